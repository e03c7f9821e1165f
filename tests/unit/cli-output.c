// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests numbers, JSON and CSV as the tools read and write them. */
#include <errno.h>
#include <math.h>
#include "cli/csv.h"
#include "cli/json.h"
#include "cli/units.h"
#include "cli/wall.h"
#include "tap.h"

static void test_parse(void)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t ns;
	} durations[] = {
		{ "10ms", 0, 10000000 }, { "5us", 0, 5000 }, { "1.5s", 0, 1500000000 },
		{ "7ns", 0, 7 }, { "0", 0, 0 }, { "2m", 0, 120000000000 }, { ".5us", 0, 500 },
		{ "10", -EINVAL, 0 }, { "", -EINVAL, 0 }, { "ms", -EINVAL, 0 },
		{ "-1ms", -EINVAL, 0 }, { "10msx", -EINVAL, 0 }, { "0x10ms", -EINVAL, 0 },
		{ "1e30s", -ERANGE, 0 }, { "nan", -EINVAL, 0 }, { "inf", -EINVAL, 0 },
	};
	uint64_t v;
	uint32_t ppm;

	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		int rc = units_parse_duration(durations[i].text, 0, &v);

		ok(rc == durations[i].rc && (rc || v == durations[i].ns), "duration '%s'",
		   durations[i].text);
	}
	ok(!units_parse_duration("2.5", 1000000000, &v) && v == 2500000000, "seconds by default");
	ok(!units_parse_size("64M", &v) && v == 64 << 20, "64M");
	ok(!units_parse_size("1.5k", &v) && v == 1536, "1.5k");
	ok(!units_parse_size("2GiB", &v) && v == 2ULL << 30, "2GiB");
	ok(units_parse_size("64X", &v) == -EINVAL, "64X");
	ok(!units_parse_percent("5%", &ppm) && ppm == 50000, "5%%");
	ok(!units_parse_percent("0.25", &ppm) && ppm == 2500, "0.25");
	ok(units_parse_percent("101%", &ppm) == -ERANGE, "101%%");
	ok(!units_parse_number("010", &v) && v == 10, "010 is ten");
	ok(!units_parse_number("0xff", &v) && v == 255, "0xff");
	ok(units_parse_number("12a", &v) == -EINVAL, "12a");
	ok(units_parse_number("-1", &v) == -EINVAL, "-1");
	ok(units_parse_number("99999999999999999999", &v) == -ERANGE, "beyond 64 bits");
}

static void test_format(void)
{
	char buf[UNITS_ROOM];

	is_str(units_duration(0, buf), "0 ns", "0 ns");
	is_str(units_duration(999, buf), "999 ns", "999 ns");
	is_str(units_duration(1240, buf), "1.24 us", "1240 ns");
	is_str(units_duration(999900, buf), "1.00 ms", "999.9 us");
	is_str(units_duration(12.34e6, buf), "12.3 ms", "12.34 ms");
	is_str(units_duration(123e9, buf), "123 s", "123 s");
	is_str(units_bytes(64 << 20, buf), "64.0 MiB", "64 MiB");
	is_str(units_bytes(17, buf), "17 B", "17 B");
	is_str(units_count(1234567, buf), "1.23 M", "1234567");
}

/* Returns what the function prints. */
static const char *printed(void (*print)(FILE *f))
{
	static char *text;
	size_t size;
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	print(f);
	fclose(f);
	return text;
}

static void print_json(FILE *f)
{
	struct json j;

	json_init(&j, f);
	json_object_begin(&j, NULL);
	json_string(&j, "s", "a\"b\\c\n\t\x01\x7f");
	json_string(&j, "utf8", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	json_string(&j, "c1", "a\xc2\x9b" "b\xc2\xa0");
	json_string(&j, "bad", "x\xff\xc0\xaf\xed\xa0\x80y\xe2\x82");
	json_u64(&j, "u", UINT64_MAX);
	json_i64(&j, "i", INT64_MIN);
	json_double(&j, "d", 0.1);
	json_double(&j, "third", 1.0 / 3);
	json_double(&j, "nan", NAN);
	json_hex(&j, "hex", 0xbeef);
	json_array_begin(&j, "empty");
	json_array_end(&j);
	json_flat(&j);
	json_array_begin(&j, "flat");
	json_bool(&j, NULL, true);
	json_object_begin(&j, NULL);
	json_null(&j, "n");
	json_u64(&j, "m", 2);
	json_object_end(&j);
	json_array_end(&j);
	json_array_begin(&j, "lines");
	json_u64(&j, NULL, 1);
	json_array_end(&j);
	json_object_end(&j);
	json_end(&j);
}

static void print_csv(FILE *f)
{
	struct csv c;

	csv_init(&c, f);
	csv_string(&c, "plain");
	csv_string(&c, "a,b");
	csv_string(&c, "say \"hi\"");
	csv_string(&c, " blank");
	csv_string(&c, NULL);
	csv_double(&c, 1.5);
	csv_double(&c, INFINITY);
	csv_i64(&c, -3);
	csv_row_end(&c);
	csv_string(&c, "a\033[31m\xc2\x9b" "1m\x9b" "b\tc\xc3\xa4");
	csv_row_end(&c);
	csv_u64(&c, 7);
	csv_hex(&c, 16);
	csv_row_end(&c);
}

/* The recording begins at 23:59:50 and lasts two minutes. */
static void test_wall(void)
{
	const int64_t second = 1000000000, from = (86400 - 10) * second, to = from + 120 * second;
	int64_t ns;

	setenv("TZ", "UTC", 1);
	ok(wall_parse_within("23:59:55", from, to, &ns) && ns == 86395 * second, "a time of the first day");
	ok(wall_parse_within("00:00:30.5", from, to, &ns) && ns == 86430 * second + second / 2, "one after midnight");
	ok(wall_parse_within("00:05", from, to, &ns) && ns == 300 * second, "one that is not within stays on the first day");
	ok(wall_parse_within("1970-01-01T00:00:30", from, to, &ns) && ns == 30 * second, "a given day stays");
	ok(!wall_parse_within("noon", from, to, &ns), "what is no time");
}

int main(void)
{
	test_wall();
	test_parse();
	test_format();
	is_str(printed(print_json),
	       "{\n"
	       "  \"s\": \"a\\\"b\\\\c\\n\\t\\u0001\\u007f\",\n"
	       "  \"utf8\": \"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\",\n"
	       "  \"c1\": \"a\\u009bb\xc2\xa0\",\n"
	       "  \"bad\": \"x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdy"
	       "\xef\xbf\xbd\xef\xbf\xbd\",\n"
	       "  \"u\": 18446744073709551615,\n"
	       "  \"i\": -9223372036854775808,\n"
	       "  \"d\": 0.1,\n"
	       "  \"third\": 0.33333333333333331,\n"
	       "  \"nan\": null,\n"
	       "  \"hex\": \"0xbeef\",\n"
	       "  \"empty\": [],\n"
	       "  \"flat\": [true, {\"n\": null, \"m\": 2}],\n"
	       "  \"lines\": [\n"
	       "    1\n"
	       "  ]\n"
	       "}\n", "JSON");
	is_str(printed(print_csv),
	       "plain,\"a,b\",\"say \"\"hi\"\"\",\" blank\",,1.5,,-3\n"
	       "a?[31m?1m?b\tc\xc3\xa4\n7,0x10\n", "CSV");
	return done();
}

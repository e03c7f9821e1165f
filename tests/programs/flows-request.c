// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests that compress, encrypt (with -DWITH_CRYPTO) and query a database, each by a
 * library:
 *
 *	flows-request NR
 *
 * Request 7 compresses four times as much as the others.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <ldb/ldb.h>
#ifdef WITH_CRYPTO
#include <openssl/evp.h>
#endif

#define SIZE	(1 << 18)

static sqlite3 *db;
static sqlite3_stmt *query;
static unsigned char in[4 * SIZE], out[5 * SIZE];

__attribute__((noinline)) static void compress_it(size_t size)
{
	uLongf n = sizeof(out);

	if (compress2(out, &n, in, size, 6) != Z_OK)
		exit(3);
}

__attribute__((noinline)) static void encrypt_it(void)
{
#ifdef WITH_CRYPTO
	static const unsigned char key[32] = "k", iv[16] = "v";
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n;

	if (!c || !EVP_EncryptInit_ex(c, EVP_aes_256_cbc(), NULL, key, iv) ||
	    !EVP_EncryptUpdate(c, out, &n, in, SIZE))
		exit(4);
	EVP_CIPHER_CTX_free(c);
#endif
}

__attribute__((noinline)) static int query_it(int i)
{
	int sum = 0;

	sqlite3_bind_int(query, 1, i);
	if (sqlite3_step(query) == SQLITE_ROW)
		sum = sqlite3_column_int(query, 0);
	sqlite3_reset(query);
	return sum;
}

__attribute__((noinline)) static int handle(int i)
{
	compress_it(i == 7 ? 4 * SIZE : SIZE);
	encrypt_it();
	return query_it(i);
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 20, sum = 0;

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = i * 2654435761U >> 24 & (i / 512 % 16 ? 15 : 255);
	if (sqlite3_open(":memory:", &db) ||
	    sqlite3_exec(db, "CREATE TABLE t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n "
			 "LIMIT 20000) SELECT a FROM n", NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db, "SELECT count(*) FROM t WHERE a % 100 = ?", -1, &query, NULL))
		return 1;
	for (int i = 0; i < nr; i++) {
		ldb_req_start(i, NULL);
		sum += handle(i);
		ldb_req_end(i);
	}
	sqlite3_finalize(query);
	sqlite3_close(db);
	printf("%d requests, %d rows\n", nr, sum);
	return 0;
}

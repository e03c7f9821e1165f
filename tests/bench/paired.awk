# SPDX-License-Identifier: GPL-2.0-or-later
# One row of a table from paired values.  Input: lines "ROUND CONFIG VALUE".
#
# Variables: a, b, base: configs.  What is formed within each round that has them all:
#	a b		the ratio a / b
#	a b, diff=1	the difference a - b
#	a b base	how many times as much a adds to base as b does: (a - base) /
#			(b - base); "inf" where b adds nothing
#	a alone		the value of a
# a may be a list "x,y,z": the smallest of those there.
# Others: name; fmt (of a value); bound (upper limit) or least (lower limit), or
# neither; why (printed when a row has no data).
#
# Prints name, median, its 95 % interval, the number of rounds, and PASS or FAIL.  The
# interval is that of the sign test: the k-th smallest to the k-th largest value, with
# k from the binomial distribution.  It assumes nothing about the shape of the noise.
# Fewer than six rounds have no such interval: the smallest and the largest are
# printed, marked with "~".
# PASS: the whole interval lies within the limit; without an interval nothing passes.

BEGIN { INF = 1e30 }

{ v[$1, $2] = $3; if (!($1 in seen)) { seen[$1] = 1; round[++nr_rounds] = $1 } }

function print_row(text)
{
	printf "%-52s %9s  %-22s %6s  %s\n", name, text, interval, n " rds", verdict
}

# Sets found and returns the smallest of the configs in the list.
function smallest(r, list,	part, nr, i, min)
{
	nr = split(list, part, ",")
	found = 0
	for (i = 1; i <= nr; i++)
		if ((r, part[i]) in v && (!found || v[r, part[i]] < min)) {
			min = v[r, part[i]]
			found = 1
		}
	return min
}

function add_round(r,	va, vb, vbase)
{
	va = smallest(r, a)
	if (!found) return
	if (b == "") {
		x[++n] = va
		return
	}
	if (!((r, b) in v)) return
	vb = v[r, b]
	if (base != "") {
		if (!((r, base) in v)) return
		vbase = v[r, base]
		x[++n] = vb > vbase ? (va - vbase) / (vb - vbase) : INF
	} else if (diff)
		x[++n] = va - vb
	else if (vb > 0)
		x[++n] = va / vb
}

function text(value)
{
	return value == INF ? "inf" : sprintf(fmt == "" ? "%.3f" : fmt, value)
}

END {
	limited = bound != "" || least != ""
	n = 0
	for (i = 1; i <= nr_rounds; i++) add_round(round[i])
	if (!n) {
		interval = why == "" ? "-" : why
		verdict = limited ? "FAIL (no data)" : ""
		if (!limited && why != "")
			printf "%-52s %9s  %s\n", name, "-", why
		else
			print_row("-")
		exit limited
	}
	for (i = 2; i <= n; i++) {	# insertion sort: a handful of values
		t = x[i]
		for (j = i - 1; j > 0 && x[j] > t; j--) x[j + 1] = x[j]
		x[j + 1] = t
	}
	median = n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
	if (median > INF / 4) median = INF

	# Largest k with 2 * P(X < k) <= 0.05 for X ~ Binomial(n, 1/2).
	k = 0; p = 0.5 ^ n; sum = p
	while (2 * sum <= 0.05) { k++; p = p * (n - k + 1) / k; sum += p }
	mark = k ? "" : "~"
	if (!k) k = 1
	low = x[k]; high = x[n + 1 - k]
	interval = mark text(low) " .. " text(high)
	verdict = ""; bad = 0
	if (limited) {
		bad = bound != "" ? high > bound : low < least
		limit = bound != "" ? "bound " bound : "at least " least
		if (mark && !bad) limit = limit "; too few rounds to tell"
		verdict = (bad ? "FAIL" : mark ? "-" : "PASS") " (" limit ")"
	}
	print_row(text(median))
	exit bad
}

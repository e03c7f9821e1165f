# SPDX-License-Identifier: GPL-2.0-or-later
# Paired ratios.  Input: lines "ROUND CONFIG VALUE".  Variables: a, b (configs),
# name, unit ("ratio", or a scale: then a's values alone), bound (upper limit, or
# empty).  Prints one row: name, median of a/b over the rounds that have both, its
# 95 % interval, the number of rounds, and PASS or FAIL.
#
# The interval is that of the sign test: the k-th smallest to the k-th largest
# ratio, with k from the binomial distribution.  It assumes nothing about the
# shape of the noise.  Fewer than six rounds have no such interval: the smallest
# and the largest are printed, marked with "~".
# PASS: the whole interval lies within the bound.

{ v[$1, $2] = $3; if (!($1 in seen)) { seen[$1] = 1; round[++nr_rounds] = $1 } }

function print_row(text)
{
	printf "%-52s %9s  %-22s %6s  %s\n", name, text, interval, n " rds", verdict
}

END {
	n = 0
	for (i = 1; i <= nr_rounds; i++) {
		r = round[i]
		if (!((r, a) in v)) continue
		if (b == "") x[++n] = v[r, a]
		else if ((r, b) in v && v[r, b] > 0) x[++n] = v[r, a] / v[r, b]
	}
	if (!n) {
		interval = "-"; verdict = bound == "" ? "" : "FAIL (no data)"
		print_row("-")
		exit bound != ""
	}
	for (i = 2; i <= n; i++) {	# insertion sort: a handful of values
		t = x[i]
		for (j = i - 1; j > 0 && x[j] > t; j--) x[j + 1] = x[j]
		x[j + 1] = t
	}
	median = n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2

	# Largest k with 2 * P(X < k) <= 0.05 for X ~ Binomial(n, 1/2).
	k = 0; p = 0.5 ^ n; sum = p
	while (2 * sum <= 0.05) { k++; p = p * (n - k + 1) / k; sum += p }
	mark = k ? "" : "~"
	if (!k) k = 1
	low = x[k]; high = x[n + 1 - k]
	format = fmt == "" ? "%.3f" : fmt
	interval = sprintf(mark format " .. " format, low, high)
	verdict = ""
	if (bound != "") verdict = (high <= bound ? "PASS" : "FAIL") " (bound " bound ")"
	print_row(sprintf(format, median))
	exit bound != "" && high > bound
}

# SPDX-License-Identifier: GPL-2.0-or-later
# Turns what guest/all.sh printed into one stream of results.
#
#	awk -v kernel=6.1 -v tests="a.t b.t" -v first=1 -f merge.awk OUTPUT
#
# A test fails if it did not run to its end, if it printed results and no plan, if it did not print
# as many results as planned, if its exit status is not 0 although none of its results is a failure,
# or if the kernel complained.  A test without results passes if its exit status is 0, and is
# skipped if that is 77.  The last line is "@@ total N".

function result(good, what, rest)
{
	printf "%sok %d - %s%s\n", good ? "" : "not ", nr++, what, rest
}

BEGIN { nr = first }

/^@@ begin / { name = $3; label = kernel " " name ": "; seen = planned = failed = 0; has_plan = 0; ran[name] = 1; next }

/^@@ end / {
	if (!has_plan && seen == 0 && $4 == 77)
		result(1, label "skipped", " # SKIP exit status 77")
	else if (!has_plan && !(seen == 0 && $4 == 0))
		result(0, label "came to its end (exit status " $4 (($4 == 124 || $4 == 143) ? ": its time was up" : "") ")")
	else if (has_plan && seen != planned)
		result(0, label "gave " planned " results, not " seen)
	else if ($4 != 0 && !failed && !(has_plan && planned == 0))
		result(0, label "exit status " $4)
	else if (!has_plan)
		result(1, label "exit status 0")
	result($6 == "clean", label "the kernel had nothing to say")
	printf "# %s%d s\n", label, $5
	done_[name] = 1
	name = ""
	next
}

name == "" { if ($0 != "") print "# " $0; next }

/^(not )?ok( |$)/ {
	seen++
	good = !/^not/
	text = $0
	sub(/^(not )?ok *[0-9]* *-? */, "", text)
	if (!good && text !~ /# *[Tt][Oo][Dd][Oo]/)
		failed++
	result(good, label text)
	next
}
/^1\.\.[0-9]+/ { has_plan = 1; planned = substr($1, 4) + 0; if (planned == 0) { sub(/^1\.\.0 */, ""); result(1, label "skipped", " " $0) } next }
/^Bail out!/ { result(0, label $0); failed++; next }
{ print ($0 ~ /^#/ ? "" : "# ") $0 }

END {
	nr_tests = split(tests, list, " ")
	for (i = 1; i <= nr_tests; i++) {
		base = list[i]
		sub(/.*\//, "", base)
		if (!(base in done_))
			result(0, kernel " " base ": " (base in ran ? "came to its end: the guest did not" : "ran"))
	}
	print "@@ total " nr - 1
}

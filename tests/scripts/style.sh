#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make style: what clang-format, codespell and shellcheck would say.  Reports
# only; a tool that is not installed is named and skipped.

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/lib/files.sh"

section()
{
	echo
	echo "== $1"
}

section "clang-format (lines it would change, by file)"
if command -v clang-format >/dev/null; then
	source_files gcc-plugin libldb tools tests kmod | grep -E '\.(c|cc|h)$' | while read -r f; do
		nr=$(clang-format --style=file "$f" | diff "$f" - | grep -c '^[<]')
		[ "$nr" -eq 0 ] || printf '%6d  %s\n' "$nr" "$f"
	done | sort -rn
else
	echo "clang-format is not installed"
fi

section "codespell"
if command -v codespell >/dev/null; then
	source_files | grep -v '^LICENSES/' | xargs -r codespell --ignore-words-list=inout,ot,te,ser,sems
else
	echo "codespell is not installed"
fi

section "shellcheck"
if command -v shellcheck >/dev/null; then
	# shellcheck does not find the definitions of engine.sh in scripts that source it.
	source_files | grep -E '\.(sh|t)$|^\.ci/run$' | xargs -r shellcheck -s sh -e SC1090,SC1091,SC2034,SC2154,SC2016
else
	echo "shellcheck is not installed"
fi
exit 0

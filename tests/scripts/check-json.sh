#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks every JSON document that a tool printed in the tests against its schema: run.sh has
# copied them (json/bin/keep).
#
#	tests/scripts/check-json.sh		those that there are
#	tests/scripts/check-json.sh all	and each member of a schema must be in one of
#					them, but for those listed in tests/json
: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$TOP/tests/lib/engine.sh"
. "$TOP/tests/lib/json.sh"

[ -n "$json_python" ] || skip_all "$json_missing"
case ${1:-} in
all) set -- --unseen "$TOP/tests/json/unseen.txt" ;;
*) set -- ;;
esac
json_check "$@" "$LDB_JSON" >said 2>&1
status=$?
diag "$(sed 's/^# //' said | head -n 60)"
ok "documents are what their schemas say" test "$status" -eq 0
finish

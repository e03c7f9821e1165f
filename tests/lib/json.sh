# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# This file is sourced after engine.sh by scripts that compare JSON documents with their
# schemas.
#
#	json_python	the Python that has python3-jsonschema; nothing: there is none
#	json_check ARGS...	runs check.py with the schemas of this tree

SCHEMAS=$TOP/Documentation/schemas
json_python=
# Debian's Python is used if the first one on the PATH does not have the module.
for json_try in python3 /usr/bin/python3; do
	if [ -z "$json_python" ] && $json_try -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
		json_python=$json_try
	fi
done
json_missing="no python3-jsonschema: make deps"

json_check()
{
	PYTHONDONTWRITEBYTECODE=1 "$json_python" "$TOP/tests/json/check.py" "$SCHEMAS" "$@"
}

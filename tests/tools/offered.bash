# SPDX-License-Identifier: GPL-2.0-or-later
# What bash offers for the last word of a command line, one a line:
#
#	bash -u offered.bash SCRIPT TOOL WORD...
#
# BREAKS, if it is set, is what readline parts words at.
[ -z "${BREAKS+set}" ] || COMP_WORDBREAKS=$BREAKS
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE}
"_${1//-/_}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"

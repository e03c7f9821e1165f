# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the words that bash offers for the last word of a command line, one a line:
#
#	bash -u offered.bash SCRIPT TOOL WORD...
#
# BREAKS, if it is set, contains the characters at which readline separates words.
[ -z "${BREAKS+set}" ] || COMP_WORDBREAKS=$BREAKS
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE}
"_${1//-/_}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"

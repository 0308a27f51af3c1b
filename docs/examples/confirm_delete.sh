#!/bin/sh
# Deletes the files given, but only when a person says so at a terminal of their own.
# Fails closed: without that yes, whatever the reason, nothing is deleted.
set -eu
[ $# -gt 0 ] || { echo "usage: confirm_delete.sh FILE..." >&2; exit 2; }

case "$*" in *[[:cntrl:]]*) echo "a name has control characters" >&2; exit 2 ;; esac
names=
for name; do # as JSON has it
    quoted=$(printf '%s.' "$name" | sed 's/["\\]/\\&/g')
    names="$names\\n- ${quoted%.}"
done

answer=$("${SAYSO:-sayso}" ask --tool elicit_confirm --from - <<JSON
{ "message": "Delete $# files? They can't be brought back.\n$names", "title": "Delete $# files?", "destructive": true }
JSON
) || { code=$?; echo "nothing deleted" >&2; exit "$code"; }
[ "$answer" = true ] || { echo "nothing deleted" >&2; exit 1; }
rm -- "$@"

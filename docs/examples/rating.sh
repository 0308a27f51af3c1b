#!/bin/sh
# How good was it? One to five stars. Prints the number.
set -eu
exec "${SAYSO:-sayso}" ask --tool elicit_number --from - "$@" <<'JSON'
{ "message": "How do you like this mix?", "style": "rating", "minimum": 1, "maximum": 5 }
JSON

#!/bin/sh
# How fast? With both bounds a slider where there is one. Prints the number.
set -eu
exec "${SAYSO:-sayso}" ask --tool elicit_number --from - "$@" <<'JSON'
{
    "message": "What tempo shall the click track have?",
    "minimum": 40,
    "maximum": 200,
    "step": 1,
    "unit": "BPM",
    "style": "slider"
}
JSON

#!/bin/sh
# Which of three takes shall be kept? Prints its value.
# Whatever ends without an answer (cancelled, time-out, no one there) prints nothing and fails.
set -eu
exec "${SAYSO:-sayso}" ask --tool elicit_choice --from - "$@" <<'JSON'
{
    "message": "Three variations of the chorus are rendered. Which one shall go into the mix?",
    "options": [
        { "value": "a", "label": "A: half-time drums" },
        { "value": "b", "label": "B: strings double the voice" },
        { "value": "c", "label": "C: as in the demo" }
    ]
}
JSON

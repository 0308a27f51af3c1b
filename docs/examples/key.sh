#!/bin/sh
# In which key? The same tool with enum and enumNames. Prints the value.
set -eu
exec "${SAYSO:-sayso}" ask --tool elicit_choice --from - "$@" <<'JSON'
{
    "message": "The singer is comfortable from A3 to D5. Which key shall the song be in?",
    "enum": ["c_major", "d_major", "a_minor"],
    "enumNames": ["C major", "D major", "A minor"]
}
JSON

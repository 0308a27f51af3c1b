#!/bin/sh
# What shall it be called? Prints the name.
set -eu
exec "${SAYSO:-sayso}" ask --tool elicit_input --from - "$@" <<'JSON'
{
    "message": "The session needs a name before it is saved.",
    "field_name": "name",
    "minLength": 1,
    "maxLength": 40
}
JSON

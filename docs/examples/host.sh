#!/bin/sh
# A host of an agent in plain curl: it runs three tools (list_files, count, save), and its agent asks a person in between.
# The "model" is a script: where yours calls a model, this one has a case for each turn.
#
#   SAYSO_URL=http://127.0.0.1:7297 SAYSO_HEADER=FILE host.sh DIRECTORY FILE
#
# SAYSO_HEADER is a file with "Authorization: Bearer sayso_h_…" (sayso token new --kind host). FILE.host remembers the
# conversation and the last event that was dealt with: killed and started again, it goes on where it was. Everything it
# says may be said twice, so whatever it is not sure of it says again.
set -eu

directory=$1 file=$2 state=$2.host
mkdir -p "$state"
umask 077

say() { # PATH BODY: until it was heard
    until curl -sS --fail-with-body --retry 10 --retry-connrefused --retry-delay 1 -o "$state/reply" \
        -H "@$SAYSO_HEADER" -H 'Content-Type: application/json' --data-binary "$2" "$SAYSO_URL$1" 2>"$state/error"; do
        case $? in
            22) cat "$state/reply" >&2; exit 1 ;; # it was heard, and refused
        esac
        sleep 1
    done
}

json_text() { # standard input as a JSON string
    tr -d '\000-\010\013-\037' | awk 'BEGIN { printf "\"" }
        { gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); gsub(/\t/, "\\t"); printf("%s%s", NR > 1 ? "\\n" : "", $0) }
        END { printf "\"" }'
}

member() { # NAME: the text of that name in the JSON on standard input, where it has no escapes
    sed -n 's/.*"'"$1"'":"\([^"\\]*\)".*/\1/p'
}

answer() { # what the person said to the question t2; the result is JSON inside JSON
    sed -n 's/.*\\"answers\\":{\\"[^"]*\\":\\"\([^"\\]*\)\\".*/\1/p' "$state/t2"
}

run_tool() { # NAME INPUT: prints the result
    case $1 in
        list_files) ls "$directory" ;;
        count)
            case $(printf '%s' "$2" | member what) in
                Lines) cat "$directory"/* | wc -l ;;
                *) cat "$directory"/* | wc -w ;;
            esac | tr -d ' ' ;;
        save) cp "$state/t3.output" "$file" && echo saved ;;
        *) echo "there is no tool $1"; return 1 ;;
    esac
}

think() { # the model: what it wants to be run next, by what it has so far
    question='{"question":"What shall be counted?","header":"Figure","options":[{"label":"Lines"},{"label":"Words"}]}'
    if [ ! -e "$state/t2" ]; then
        turn='{"id":"t1","name":"list_files","input":{}},'
        turn=$turn'{"id":"t2","name":"ask_user_question","input":{"questions":['$question']}}'
    elif [ ! -e "$state/t4" ]; then
        turn='{"id":"t3","name":"count","input":{"what":"'$(answer)'"}},{"id":"t4","name":"save","input":{}}'
    else
        say "$talk/turn-ended" '{}'
        return
    fi
    say "$talk/tool-calls" '{"tool_calls":['"$turn"']}'
}

deal_with() { # EVENT DATA
    case $1 in
        persist_tool_results)
            for id in t1 t2 t3 t4; do
                case $2 in
                    *'"tool_use_id":"'$id'"'*) printf '%s\n' "$2" >"$state/$id" ;;
                esac
            done ;;
        execute_tool)
            id=$(printf '%s' "$2" | member id) failed=false
            run_tool "$(printf '%s' "$2" | member name)" "$2" >"$state/$id.output" || failed=true
            say "$talk/tool-results" \
                '{"tool_use_id":"'"$id"'","content":'"$(json_text <"$state/$id.output")"',"is_error":'$failed'}' ;;
        request_llm) think ;;
        agent_done) touch "$state/done" ;;
    esac
}

if [ ! -s "$state/conversation" ]; then
    key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    [ -s "$state/key" ] || printf %s "$key" >"$state/key"
    until curl -sS --fail-with-body --retry 10 --retry-connrefused --retry-delay 1 -o "$state/reply" -X POST \
        -H "@$SAYSO_HEADER" -H "Idempotency-Key: $(cat "$state/key")" "$SAYSO_URL/conversations"; do sleep 1; done
    member conversation <"$state/reply" >"$state/conversation"
fi
talk=/conversations/$(cat "$state/conversation")
[ -s "$state/last" ] || { think; echo 0 >"$state/last"; }

# One connection after the other, each from the event behind the last.
listener=
trap 'kill $listener 2>/dev/null || :' EXIT
rm -f "$state/stream"
mkfifo "$state/stream"
while [ ! -e "$state/done" ]; do
    curl -sS --no-buffer -H "@$SAYSO_HEADER" -H "Last-Event-ID: $(cat "$state/last")" "$SAYSO_URL$talk/events" \
        >"$state/stream" 2>"$state/error" &
    listener=$!
    while IFS= read -r line; do
        case $line in
            'id: '*) number=${line#id: } ;;
            'event: '*) event=${line#event: } ;;
            'data: '*) deal_with "$event" "${line#data: }"; echo "$number" >"$state/last" ;;
        esac
        [ ! -e "$state/done" ] || break
    done <"$state/stream"
    kill "$listener" 2>/dev/null || true
    [ -e "$state/done" ] || sleep 0.2
done
if [ -e "$file" ]; then cat "$file"; else echo "nothing was saved" >&2; exit 3; fi

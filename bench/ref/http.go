// The tool of plain.go over HTTP, by Go's standard library alone. Stores nothing.
//
//	http PORT
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"sync"
)

type object map[string]any

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
}

type incoming struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Arguments struct{ Prompt string }
	}
	Result struct {
		Content struct{ Answer string }
	}
}

var (
	answerSchema = object{"type": "object", "required": []string{"answer"}, "properties": object{
		"answer": object{"type": "string", "enum": []string{"yes", "no"}}}}
	promptSchema = object{"type": "object", "required": []string{"prompt"}, "properties": object{
		"prompt": object{"type": "string"}}}
	results = map[string]any{
		"initialize": object{"protocolVersion": "2025-11-25", "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": "plain-go", "version": "1.0.0"}},
		"tools/list": object{"tools": []object{{"name": "ask",
			"description": "Ask the human to choose", "inputSchema": promptSchema}}},
		"ping": object{},
	}
	lock    sync.Mutex
	asked   int
	waiting = map[string]chan string{}
)

func encode(m message) []byte {
	m.Version = "2.0"
	line, _ := json.Marshal(m)
	return line
}

func send(out http.ResponseWriter, m message) {
	out.Write([]byte("data: "))
	out.Write(encode(m))
	out.Write([]byte("\n\n"))
	out.(http.Flusher).Flush()
}

func ask(out http.ResponseWriter, call incoming) {
	answer := make(chan string, 1)
	lock.Lock()
	asked++
	question := strconv.Itoa(asked)
	waiting[question] = answer
	lock.Unlock()
	out.Header().Set("Content-Type", "text/event-stream")
	send(out, message{ID: json.RawMessage(question), Method: "elicitation/create", Params: object{
		"mode": "form", "message": call.Params.Arguments.Prompt, "requestedSchema": answerSchema}})
	text := object{"type": "text", "text": <-answer}
	send(out, message{ID: call.ID, Result: object{"content": []object{text}}})
}

func take(reply incoming) {
	lock.Lock()
	answer := waiting[string(reply.ID)]
	delete(waiting, string(reply.ID))
	lock.Unlock()
	if answer != nil {
		answer <- reply.Result.Content.Answer
	}
}

func serve(out http.ResponseWriter, request *http.Request) {
	var got incoming
	if json.NewDecoder(request.Body).Decode(&got) != nil {
		out.WriteHeader(400)
	} else if got.Method == "tools/call" {
		ask(out, got)
	} else if result, known := results[got.Method]; known {
		out.Header().Set("Content-Type", "application/json")
		out.Write(encode(message{ID: got.ID, Result: result}))
	} else {
		if got.Method == "" {
			take(got)
		}
		out.WriteHeader(202)
	}
}

func main() {
	http.HandleFunc("/mcp", serve)
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}

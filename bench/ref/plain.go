// One tool that asks through the client's form, by Go's standard library alone: every line is
// parsed, every reply encoded and written at once, each ask is a goroutine. Stores nothing.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
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
	lines = make(chan []byte, 64)
)

func send(m message) {
	m.Version = "2.0"
	line, _ := json.Marshal(m)
	lines <- append(line, '\n')
}

func write() {
	for line := range lines {
		os.Stdout.Write(line)
	}
}

func ask(call incoming, question string, answer <-chan string) {
	send(message{ID: json.RawMessage(question), Method: "elicitation/create", Params: object{
		"mode": "form", "message": call.Params.Arguments.Prompt, "requestedSchema": answerSchema}})
	text := object{"type": "text", "text": <-answer}
	send(message{ID: call.ID, Result: object{"content": []object{text}}})
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	waiting := map[string]chan string{}
	asked := 0
	go write()
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var got incoming
		if json.Unmarshal(line, &got) != nil || got.ID == nil {
			continue
		}
		if answer := waiting[string(got.ID)]; got.Method == "" && answer != nil {
			delete(waiting, string(got.ID))
			answer <- got.Result.Content.Answer
		} else if got.Method == "tools/call" {
			asked++
			question := strconv.Itoa(asked)
			waiting[question] = make(chan string, 1)
			go ask(got, question, waiting[question])
		} else if result, known := results[got.Method]; known {
			send(message{ID: got.ID, Result: result})
		}
	}
}

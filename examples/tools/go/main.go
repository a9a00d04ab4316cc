// A tool in Go: word_count. Usage: go run . [nats://HOST:PORT]
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

const contract = `{
  "name": "word_count", "version": "1.0.0", "effect": "pure", "runs_in": "host", "timeout_ms": 2000,
  "description": "Counts the words of a text. Use it when a text has to keep to a number of words.",
  "parameters": {"type": "object", "additionalProperties": false, "required": ["text"], "properties": {
    "text": {"type": "string", "maxLength": 100000, "description": "The text; words are what white space separates."}}},
  "return_schema": {"type": "object", "required": ["words"], "properties": {"words": {"type": "integer", "minimum": 0}}},
  "examples": [{"arguments": {"text": "to be or not"}, "returns": {"words": 4}}]
}`

func call(r micro.Request) {
	var arguments struct{ Text string }
	var err error
	if err = json.Unmarshal(r.Data(), &arguments); err != nil {
		err = r.Error("400", err.Error(), nil)
	} else {
		err = r.RespondJSON(map[string]int{"words": len(strings.Fields(arguments.Text))})
	}
	if err != nil {
		log.Print(err)
	}
}

func main() {
	url := nats.DefaultURL
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	_, err = micro.AddService(nc, micro.Config{Name: "words", Version: "1.0.0", Endpoint: &micro.EndpointConfig{
		Subject: "callgate.tool.word_count.1_0_0", Handler: micro.HandlerFunc(call), Metadata: map[string]string{"callgate.contract": contract},
	}})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	_ = nc.Drain() // what it has begun it ends
}

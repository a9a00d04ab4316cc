module callgate.dev/planner

go 1.26

require (
	github.com/sashabaranov/go-openai v1.43.0
	go.uber.org/goleak v1.3.0
)

require (
	callgate.dev/schemas v0.0.0
	github.com/tiktoken-go/tokenizer v0.10.0
)

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
)

replace callgate.dev/schemas => ../schemas

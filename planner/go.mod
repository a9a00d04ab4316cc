module callgate.dev/planner

go 1.26

require (
	github.com/sashabaranov/go-openai v1.43.0
	go.uber.org/goleak v1.3.0
)

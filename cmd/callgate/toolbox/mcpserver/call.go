package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"callgate.dev/schemas"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// caller calls one tool of a server.
type caller struct {
	server *server
	name   string // as the server has it
}

// Call is registry.HostTool's. The session binds the result to the request by
// an ID of its own.
func (c *caller) Call(ctx context.Context, call schemas.Call) (json.RawMessage, error) {
	session := c.server.current()
	if session == nil {
		return nil, fmt.Errorf("MCP server %s is not there; nothing ran", c.server.name)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.name, Arguments: call.Arguments})
	if err != nil {
		return nil, unanswered(ctx, call, err)
	}
	if result.IsError {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "%s", text(result.Content))
	}
	if result.StructuredContent != nil {
		return json.Marshal(result.StructuredContent)
	}
	return json.Marshal(text(result.Content))
}

// codeInvalidParams is JSON-RPC's.
const codeInvalidParams = -32602

func unanswered(ctx context.Context, call schemas.Call, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var answer *jsonrpc.Error
	if errors.As(err, &answer) { // the server's own word: it did not run the tool
		if answer.Code == codeInvalidParams {
			return schemas.Errorf(schemas.ClassArgumentsInvalid, "%s", answer.Message)
		}
		return schemas.Errorf(schemas.ClassToolFailed, "%s", answer.Message)
	}
	if call.Effect == schemas.Effectful {
		return schemas.Errorf(schemas.ClassOutcomeUnknown, "%v; it may have taken effect", err)
	}
	return err
}

// text is what a model can read of a result. What is no text is named.
func text(content []mcp.Content) string {
	var parts []string
	for _, c := range content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes, which is not shown]", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes, which is not played]", c.MIMEType, len(c.Data)))
		default:
			b, err := json.Marshal(c)
			if err != nil {
				b = []byte("[content that cannot be shown]")
			}
			parts = append(parts, string(b))
		}
	}
	return strings.Join(parts, "\n")
}

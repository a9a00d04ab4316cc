package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxTools bounds what is registered of one server.
const maxTools = 256

// server is one of them. look is called by one goroutine at a time, the others
// see its session only.
type server struct {
	config *Config
	name   string
	entry  Entry
	known  map[string]string // the digest of each contract that is registered, by ref
	said   string

	mu      sync.Mutex
	session *mcp.ClientSession
}

func (s *server) current() *mcp.ClientSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

func (s *server) set(session *mcp.ClientSession) (before *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.session = s.session, session
	return before
}

// look brings the registry up to date with what the server lists, or takes its
// tools out with the reason.
func (s *server) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Patience)
	defer cancel()
	tools, version, err := s.tools(ctx)
	if err != nil {
		reason := fmt.Sprintf("MCP server %s: %v", s.name, err)
		if ctx.Err() == context.DeadlineExceeded {
			reason = fmt.Sprintf("MCP server %s did not answer within %v", s.name, s.config.Patience)
		}
		if ctx.Err() == context.Canceled {
			return
		}
		s.say(reason)
		for ref := range s.known {
			s.out(ref, reason)
		}
		_ = s.close() // the next look connects anew
		return
	}
	s.said = ""
	listed := map[string]bool{}
	for _, t := range tools {
		if ref, ok := s.put(t, version); ok {
			listed[ref] = true
			s.out(ref, "")
		}
	}
	for ref := range s.known {
		if !listed[ref] {
			s.out(ref, fmt.Sprintf("MCP server %s, version %s, does not list it any more", s.name, version))
		}
	}
}

func (s *server) tools(ctx context.Context) ([]*mcp.Tool, string, error) {
	session := s.current()
	if session == nil {
		client := mcp.NewClient(&mcp.Implementation{Name: "callgate", Version: "1"}, nil)
		var err error
		if session, err = client.Connect(ctx, s.transport(), nil); err != nil {
			return nil, "", fmt.Errorf("connect: %w", err)
		}
		s.set(session)
	}
	var tools []*mcp.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, "", fmt.Errorf("list tools: %w", err)
		}
		if tools = append(tools, t); len(tools) == maxTools {
			break
		}
	}
	version := ""
	if r := session.InitializeResult(); r != nil && r.ServerInfo != nil {
		version = r.ServerInfo.Version
	}
	return tools, versionOf(version), nil
}

// put registers a tool, and reports whether it is there now.
func (s *server) put(t *mcp.Tool, version string) (string, bool) {
	c, err := contractOf(s.name, s.entry, version, t)
	if err != nil {
		s.say(err.Error())
		return "", false
	}
	whole, err := json.Marshal(c)
	if err != nil {
		s.say(err.Error())
		return "", false
	}
	ref, digest := c.Ref(), schemas.Digest(whole)
	if s.known[ref] == digest {
		return ref, true
	}
	tool := registry.Tool{Contract: c, Host: &caller{server: s, name: t.Name}, Source: "MCP server " + s.name}
	if err := s.config.Registry.Replace(tool); err != nil {
		s.config.Log.Warn("an MCP server's tool is refused", "server", s.name, "tool", t.Name, "problem", err)
		return "", false
	}
	if s.known[ref] != "" {
		s.config.Log.Warn("an MCP server has another contract under the same version", "tool", ref)
	} else {
		s.config.Log.Info("a tool was found", "tool", ref, "source", tool.Source)
	}
	s.known[ref] = digest
	return ref, true
}

func (s *server) out(ref, reason string) {
	switch changed := s.config.Registry.SetOut(ref, reason); {
	case !changed:
	case reason == "":
		s.config.Log.Info("a tool is back in", "tool", ref)
	default:
		s.config.Log.Warn("a tool is out", "tool", ref, "reason", reason)
	}
}

// say tells an operator of something once.
func (s *server) say(what string) {
	if s.said != what {
		s.said = what
		s.config.Log.Warn("an MCP server", "server", s.name, "problem", what)
	}
}

func (s *server) close() error {
	if session := s.set(nil); session != nil {
		return session.Close()
	}
	return nil
}

func (s *server) transport() mcp.Transport {
	if s.entry.URL != "" {
		t := &mcp.StreamableClientTransport{Endpoint: s.entry.URL, DisableStandaloneSSE: true, MaxRetries: -1}
		if s.entry.BearerEnv != "" {
			t.HTTPClient = &http.Client{Transport: bearer(s.config.Getenv(s.entry.BearerEnv))}
		}
		return t
	}
	cmd := exec.Command(s.entry.Command[0], s.entry.Command[1:]...)
	cmd.Dir = s.config.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} // a key of the worker's own is not the server's
	for name, value := range s.entry.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Second}
}

// bearer is a token that goes with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context()) // a RoundTripper leaves its request alone
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

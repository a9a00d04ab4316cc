package registry_test

import (
	"fmt"
	"testing"

	"callgate.dev/dispatcher/registry"
)

func TestVersionRanges(t *testing.T) {
	var tools []registry.Tool
	for _, v := range []string{"0.2.9", "0.3.0", "1.2.0", "1.2.7", "1.10.0", "2.0.0"} {
		tools = append(tools, tool("x", v))
	}
	r := open(t, tools...)
	for asked, want := range map[string]string{
		"": "2.0.0", "1": "1.10.0", "1.2": "1.2.7", "1.2.0": "1.2.0", "^1.2": "1.10.0", "^1.2.1": "1.10.0", "~1.2": "1.2.7", "~1.2.1": "1.2.7", "~1": "1.10.0",
		"^0.2": "0.2.9", "^0.2.9": "0.2.9", ">=1.2 <1.10": "1.2.7", ">=1.2,<2": "1.10.0", "<=1.2": "1.2.7", "<1": "0.3.0", ">1.2": "2.0.0", ">1.2 <2": "1.10.0",
		"=1.2.0": "1.2.0", "<0.3": "0.2.9", "3": "", "^3": "", ">2": "", "1.2.0.0": "", "x": "", ">=": "", "01": "", " ": "", ">=1 <1": "",
	} {
		e, _, err := r.Resolve(registry.Scope{}, "x@"+asked)
		got := ""
		if err == nil {
			got = e.Contract.Version
		}
		if got != want {
			t.Errorf("x@%s: %q, want %q", asked, got, want)
		}
	}
}

// A tool that is out is passed over, and known all the same.
func TestOut(t *testing.T) {
	r := open(t, tool("x", "1.0.0"), tool("x", "2.0.0"), tool("y", "1.0.0"))
	resolve := func(ref string) string {
		e, _, err := r.Resolve(registry.Scope{}, ref)
		if err != nil {
			return err.Error()
		}
		return e.Contract.Ref()
	}
	if !r.SetOut("x@2.0.0", "no disk") || r.SetOut("x@2.0.0", "no disk") || r.SetOut("z@1.0.0", "no disk") {
		t.Error("SetOut does not say what it changed")
	}
	r.SetOut("y@1.0.0", "no disk")
	for ref, want := range map[string]string{
		"x": "x@1.0.0", "x@2": "tool_failed: x@2.0.0 is out: no disk; nothing ran", "y": "tool_failed: y@1.0.0 is out: no disk; nothing ran",
	} {
		if got := resolve(ref); got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
	offered, err := r.Contracts("acme", nil)
	named, errNamed := r.Contracts("acme", &[]string{"y"})
	if err != nil || errNamed != nil || len(named) != 1 {
		t.Error(err, errNamed, named)
	}
	for _, c := range offered {
		if c.Ref() != "x@1.0.0" && c.Name != "read_file" && (c.Name == "x" || c.Name == "y") {
			t.Errorf("%s is offered", c.Ref())
		}
	}
	if n := r.Unavailable(); n != 2 {
		t.Errorf("%d out", n)
	}
	if got := fmt.Sprint(r.Known("acme", []string{"y@1.0.0", "x@1", "gone@1.0.0"})); got != "[y@1.0.0]" {
		t.Errorf("known: %s", got)
	}
	if r.SetOut("x@2.0.0", ""); resolve("x") != "x@2.0.0" {
		t.Error("x@2.0.0 is not back in")
	}
}

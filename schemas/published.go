package schemas

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Documents holds the published JSON Schemas, json/<name>.schema.json. They
// say of this package's types what other languages need to know; a test holds
// the two together.
//
//go:embed json/*.schema.json
var Documents embed.FS

const publishedBase = "https://callgate.dev/schemas/"

var publishedCache sync.Map // ref to func() *Schema

// published returns one of the schemas: "job", or "run#/$defs/isolation". It
// panics where this package's own files are broken, which the tests rule out.
func published(ref string) *Schema {
	compile, _ := publishedCache.LoadOrStore(ref, sync.OnceValue(func() *Schema {
		b := &budget{}
		c := publishedCompiler()
		c.RegisterExtension("budget", nil, b)
		name, fragment, _ := strings.Cut(ref, "#")
		return &Schema{root: c.MustCompile(publishedBase + name + ".schema.json#" + fragment), budget: b}
	}))
	return compile.(func() *Schema)()
}

// CheckDocument holds a document to a published schema, such as "envelope",
// "result" or "run#/$defs/isolation". The error is Faults. It is for tests, for
// tools and for documents from outside; events on the log are decoded without.
func CheckDocument(ref string, doc []byte) error {
	name, _, _ := strings.Cut(ref, "#")
	if _, err := fs.Stat(Documents, "json/"+name+".schema.json"); err != nil {
		return fmt.Errorf("find schema %q: %w", ref, err)
	}
	return published(ref).Validate(doc)
}

func publishedCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = loadNothing
	entries, err := fs.ReadDir(Documents, "json")
	if err != nil {
		panic(fmt.Sprintf("read embedded schemas: %v", err))
	}
	for _, e := range entries {
		f, err := Documents.Open("json/" + e.Name())
		if err != nil {
			panic(fmt.Sprintf("open embedded schema: %v", err))
		}
		if err := c.AddResource(publishedBase+e.Name(), f); err != nil {
			panic(fmt.Sprintf("read embedded schema %s: %v", e.Name(), err))
		}
		_ = f.Close() // an embedded file
	}
	return c
}

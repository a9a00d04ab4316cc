package schemas

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// described pairs each struct with the schema that describes it.
var described = map[string]any{
	"common#/$defs/error":          Error{},
	"job#":                         Job{},
	"job#/$defs/file":              File{},
	"job#/$defs/contract":          Contract{},
	"job#/$defs/entrypoint":        Entrypoint{},
	"job#/$defs/limits":            Limits{},
	"envelope#":                    Envelope{},
	"envelope#/$defs/submission":   Submission{},
	"envelope#/$defs/spent":        Spent{},
	"envelope#/$defs/answer":       Answer{},
	"envelope#/$defs/fallback":     Fallback{},
	"envelope#/$defs/message":      Message{},
	"envelope#/$defs/message_call": MessageCall{},
	"envelope#/$defs/round":        Round{},
	"envelope#/$defs/call":         Call{},
	"envelope#/$defs/repair":       Repair{},
	"envelope#/$defs/call_result":  CallResult{},
	"envelope#/$defs/code":         Code{},
	"envelope#/$defs/workspace":    Workspace{},
	"envelope#/$defs/blob_ref":     BlobRef{},
	"envelope#/$defs/feedback":     Feedback{},
	"envelope#/$defs/wait":         Wait{},
	"envelope#/$defs/intent":       Intent{},
	"envelope#/$defs/steering":     Steering{},
	"envelope#/$defs/review":       Review{},
	"result#":                      Outcome{},
	"result#/$defs/result":         Result{},
	"result#/$defs/metadata":       Metadata{},
	"result#/$defs/degradation":    Degradation{},
	"tool#":                        ToolContract{},
	"tool#/$defs/tool_example":     ToolExample{},
	"facts#":                       Facts{},
	"facts#/$defs/parse_error":     ParseError{},
	"facts#/$defs/function":        Function{},
	"facts#/$defs/param":           Param{},
	"facts#/$defs/import":          Import{},
	"facts#/$defs/code_call":       CodeCall{},
	"facts#/$defs/finding":         Finding{},
	"run#":                         RunReport{},
	"run#/$defs/audit":             Audit{},
	"run#/$defs/program_call":      ProgramCall{},
	"run#/$defs/audit_record":      AuditRecord{},
	"run#/$defs/changed":           Changed{},
	"run#/$defs/isolation":         Isolation{},
	"run#/$defs/connection":        Connection{},
	"submission#/$defs/accepted":   Accepted{},
	"submission#/$defs/rejection":  Rejection{},
}

// object is what the test reads of a schema.
type object struct {
	Type                 any               `json:"type"`
	Ref                  string            `json:"$ref"`
	AnyOf                []object          `json:"anyOf"`
	Enum                 []string          `json:"enum"`
	Format               string            `json:"format"`
	ContentEncoding      string            `json:"contentEncoding"`
	Items                *object           `json:"items"`
	Required             []string          `json:"required"`
	Properties           map[string]object `json:"properties"`
	AdditionalProperties any               `json:"additionalProperties"`
	Defs                 map[string]object `json:"$defs"`
}

func load(t *testing.T, name string) object {
	t.Helper()
	raw, err := fs.ReadFile(Documents, "json/"+name+".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func at(t *testing.T, ref string) object {
	t.Helper()
	file, fragment, _ := strings.Cut(ref, "#")
	o := load(t, file)
	if name, ok := strings.CutPrefix(fragment, "/$defs/"); ok {
		if o, ok = o.Defs[name]; !ok {
			t.Fatalf("no schema %s", ref)
		}
	}
	return o
}

// TestStructsMatchSchemas: every struct has the properties, the required ones
// and the types that its schema says, and no schema describes nothing.
func TestStructsMatchSchemas(t *testing.T) {
	byType := map[reflect.Type]string{}
	for ref, v := range described {
		byType[reflect.TypeOf(v)] = ref
	}
	for ref, v := range described {
		t.Run(ref, func(t *testing.T) {
			schema := at(t, ref)
			if schema.AdditionalProperties != false {
				t.Error("additionalProperties is not false")
			}
			typ := reflect.TypeOf(v)
			seen := map[string]bool{}
			for i := range typ.NumField() {
				f := typ.Field(i)
				name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name == "-" {
					continue
				}
				seen[name] = true
				p, ok := schema.Properties[name]
				if !ok {
					t.Errorf("the schema lacks %q", name)
					continue
				}
				optional := opts == "omitempty" || opts == "omitzero"
				if required := slices.Contains(schema.Required, name); required == optional {
					t.Errorf("%q: optional in Go %v, required in the schema %v", name, optional, required)
				}
				if why := mismatch(byType, ref, f.Type, p, optional); why != "" {
					t.Errorf("%q: %s", name, why)
				}
			}
			for name := range schema.Properties {
				if !seen[name] {
					t.Errorf("the struct lacks %q", name)
				}
			}
		})
	}
	entries, err := fs.ReadDir(Documents, "json")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".schema.json")
		for def, o := range load(t, name).Defs {
			if _, ok := described[name+"#/$defs/"+def]; !ok && o.Enum == nil {
				t.Errorf("%s#/$defs/%s describes no struct", name, def)
			}
		}
	}
}

// mismatch says how a Go type differs from a schema, or "".
func mismatch(byType map[reflect.Type]string, within string, typ reflect.Type, s object, optional bool) string {
	want := func(ok bool, what string) string {
		if ok {
			return ""
		}
		return "the schema should say " + what
	}
	nullable := func(base string) string {
		if optional {
			return want(s.Type == base, base)
		}
		list, _ := s.Type.([]any)
		return want(len(list) == 2 && list[0] == base && list[1] == "null", base+" or null: nil is written as null")
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return want(s.Type == "string" && s.Format == "date-time", "date-time")
	case typ == reflect.TypeFor[json.RawMessage](), typ.Kind() == reflect.Interface:
		return "" // any JSON; a schema may say more
	case typ == reflect.TypeFor[[]byte]():
		return want(s.Type == "string" && s.ContentEncoding == "base64", "base64")
	}
	switch typ.Kind() {
	case reflect.Pointer:
		if optional {
			return mismatch(byType, within, typ.Elem(), s, true)
		}
		if len(s.AnyOf) != 2 || s.AnyOf[1].Type != "null" {
			return "the schema should allow null"
		}
		return mismatch(byType, within, typ.Elem(), s.AnyOf[0], true)
	case reflect.Struct:
		if len(s.AnyOf) > 0 && s.Ref == "" {
			s = s.AnyOf[0]
		}
		return want(resolve(within, s.Ref) == byType[typ], byType[typ])
	case reflect.Slice:
		if why := nullable("array"); why != "" {
			return why
		}
		if s.Items == nil {
			return "the schema lacks items"
		}
		return mismatch(byType, within, typ.Elem(), *s.Items, true)
	case reflect.Map:
		return nullable("object")
	case reflect.Bool:
		return want(s.Type == "boolean", "boolean")
	case reflect.Float64:
		return want(s.Type == "number", "number")
	case reflect.String:
		if typ.PkgPath() != "" { // State, Class and their like
			return want(strings.HasPrefix(s.Ref, "common.schema.json#/$defs/"), "one of the enums")
		}
		return want(s.Type == "string", "string")
	default:
		return want(s.Type == "integer", "integer")
	}
}

func resolve(within, ref string) string {
	file, fragment, _ := strings.Cut(ref, "#")
	if file == "" {
		file, _, _ = strings.Cut(within, "#")
	}
	return strings.TrimSuffix(file, ".schema.json") + "#" + fragment
}

// TestEnumsMatchSchemas: the closed lists are the same on both sides.
func TestEnumsMatchSchemas(t *testing.T) {
	defs := load(t, "common").Defs
	for name, want := range map[string][]string{
		"class":         texts(Classes()),
		"language":      texts(Languages),
		"lane":          texts(Lanes),
		"state":         texts(States()),
		"effect":        {"pure", "idempotent", "effectful"},
		"runs_in":       {"host", "sandbox"},
		"role":          {"system", "user", "assistant", "tool"},
		"run_status":    {"ok", "error", "timeout", "killed", "refused"},
		"start":         {"cold", "forked", "prepared"},
		"apart":         {"", "fresh"},
		"decision":      {"approved", "rejected"},
		"degrade_step":  texts(DegradeSteps),
		"mode":          texts(Modes),
		"severity":      {"warning", "error"},
		"result_status": {"success", "error", "partial_success"},
	} {
		got := slices.Sorted(slices.Values(defs[name].Enum))
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: schema %v, Go %v", name, got, want)
		}
	}
}

func texts[T ~string](list []T) []string {
	var out []string
	for _, x := range list {
		out = append(out, string(x))
	}
	return out
}

// TestClassesHavePolicies: each is one of the four.
func TestClassesHavePolicies(t *testing.T) {
	if len(Classes()) != 34 {
		t.Errorf("%d classes", len(Classes()))
	}
	for _, c := range Classes() {
		if !slices.Contains([]Policy{PolicyRetry, PolicyReplan, PolicyFail, PolicyHuman}, c.Policy()) || !c.Known() {
			t.Errorf("%s: policy %q", c, c.Policy())
		}
	}
	if Class("nonsense").Known() || Class("nonsense").Policy() != PolicyFail {
		t.Error("an unknown class must fail")
	}
}

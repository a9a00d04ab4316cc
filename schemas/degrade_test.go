package schemas

import "testing"

func TestRetriesDoubleWhatFailed(t *testing.T) {
	timeout, memory, imports := Degradation{Class: ClassWallTimeout}, Degradation{Class: ClassOutOfMemory}, Degradation{Class: ClassRuntimeError}
	d := DefaultLimits
	for _, c := range []struct {
		name              string
		own               Limits
		retries           []Degradation
		wall, cpu, memory int64
	}{
		{"none", Limits{}, nil, d.RunTimeoutMS, d.CPUMS, d.MemoryBytes},
		{"time", Limits{}, []Degradation{timeout}, 30_000, 20_000, d.MemoryBytes},
		{"time twice", d, []Degradation{timeout, timeout}, MaxLimits.RunTimeoutMS, 40_000, d.MemoryBytes},
		{"memory, then time", d, []Degradation{memory, timeout}, 30_000, 20_000, 1 << 30},
		{"memory twice", d, []Degradation{memory, memory}, d.RunTimeoutMS, d.CPUMS, 2 << 30},
		{"an import", d, []Degradation{imports, imports}, d.RunTimeoutMS, d.CPUMS, d.MemoryBytes},
		{"limits of the job's own", Limits{RunTimeoutMS: 1000, CPUMS: 60_000, MemoryBytes: 64 << 20}, []Degradation{timeout, memory}, 1000, 60_000, 64 << 20},
	} {
		if got := c.own.WithRoom(c.retries); got.RunTimeoutMS != c.wall || got.CPUMS != c.cpu || got.MemoryBytes != c.memory || got.Pids != d.Pids {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestRetriesAreOfASubject(t *testing.T) {
	var e Envelope
	one := e.Degrade(Degradation{Step: DegradeRetry, Subject: "a", Number: 1})
	two := one.Degrade(Degradation{Step: DegradeMode}).Degrade(Degradation{Step: DegradeRetry, Subject: "b", Number: 1}).Degrade(Degradation{Step: DegradeRetry, Subject: "a", Number: 2})
	if len(e.Degraded) != 0 || len(one.Retries("a")) != 1 || len(two.Next(StateVerification).Retries("a")) != 2 || len(two.Retries("")) != 0 {
		t.Errorf("%+v, %+v", one, two)
	}
}

func TestTheOtherMode(t *testing.T) {
	tools, none := []string{"read_file"}, []string{}
	schema, context := []byte(`{"type":"object"}`), []byte(`{}`)
	coded := func() Job { return Job{Context: context, Contract: &Contract{ResultSchema: schema}} }
	for _, c := range []struct {
		name string
		job  Job
		want Mode
	}{
		{"tools by itself", Job{Prompt: "x"}, ModeCode},
		{"with tools of its own", Job{Tools: &tools, Mode: ModeAuto}, ModeCode},
		{"tools by name", Job{Mode: ModeTools}, ""},
		{"with tests", Job{Contract: &Contract{Tests: "pass"}}, ""},
		{"with an entrypoint", Job{Contract: &Contract{Entrypoint: &Entrypoint{Name: "f"}}}, ""},
		{"where a tool must be called", Job{ToolChoice: ChoiceRequired}, ""},
		{"where that tool must be called", Job{ToolChoice: "read_file"}, ""},
		{"code by itself", coded(), ModeTools},
		{"code by name", Job{Mode: ModeCode}, ""},
		{"code where no tool may be called", func() Job { j := coded(); j.Tools = &none; return j }(), ""},
		{"code where the choice is none", func() Job { j := coded(); j.ToolChoice = ChoiceNone; return j }(), ""},
	} {
		got, ok := c.job.OtherMode()
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.name, got, ok, c.want)
		}
		if ok {
			before := c.job.Coded()
			c.job.Mode = got
			if c.job.Coded() == before {
				t.Errorf("%s: mode %s changes nothing", c.name, got)
			}
		}
	}
}

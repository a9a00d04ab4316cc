package streams_test

import (
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

func TestSubjectsAreThoseOfTheProtocol(t *testing.T) {
	for got, want := range map[string]string{
		streams.JobSubject(schemas.StatePlanning, schemas.LaneBatch, "acme", "j1"):      "callgate.job.planning.batch.acme.j1",
		streams.FenceSubject("acme", "j1"):                                              "callgate.job.*.*.acme.j1",
		streams.StateSubject(schemas.StateFailed):                                       "callgate.job.failed.*.*.*",
		streams.TenantSubject("acme"):                                                   "callgate.job.*.*.acme.*",
		streams.LiveSubject(schemas.StateFailed, schemas.LaneInteractive, "acme", "j1"): "callgate.live.failed.interactive.acme.j1",
		streams.SubmitSubject("acme", schemas.LaneInteractive):                          "callgate.submit.acme",
		streams.SubmitSubject("acme", schemas.LaneBatch):                                "callgate.submit.acme.batch",
		streams.APISubmitSubject("acme"):                                                "callgate.api.submit.acme",
		streams.RejectedSubject("acme"):                                                 "callgate.rejected.acme",
		streams.TimerSubject("acme", "j1"):                                              "callgate.timer.acme.j1",
		streams.WakeSubject("acme", "j1"):                                               "callgate.wake.acme.j1",
		streams.ControlSubject("acme", "j1"):                                            "callgate.ctl.acme.j1",
		streams.ResultSubject("acme", "j1"):                                             "callgate.result.acme.j1",
		streams.CallSubject("acme", "j1", "prod_codex_t1k7q_001"):                       "callgate.call.acme.j1.prod_codex_t1k7q_001",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestParsersTakeWhatTheFunctionsWrite(t *testing.T) {
	for _, state := range append([]schemas.State{schemas.StateFailed, schemas.RecordCalling}, schemas.WorkStates...) {
		for _, lane := range schemas.Lanes {
			s, l, tenant, job, err := streams.ParseJobSubject(streams.JobSubject(state, lane, "a-1", "B_2"))
			if err != nil || s != state || l != lane || tenant != "a-1" || job != "B_2" {
				t.Errorf("%v %v: %v %v %v %v %v", state, lane, s, l, tenant, job, err)
			}
		}
	}
	for _, lane := range schemas.Lanes {
		if tenant, l, err := streams.ParseSubmitSubject(streams.SubmitSubject("acme", lane)); err != nil || tenant != "acme" || l != lane {
			t.Errorf("submit %v: %v %v %v", lane, tenant, l, err)
		}
	}
	if tenant, job, id, err := streams.ParseCallSubject(streams.CallSubject("a", "b", "c_1")); err != nil || tenant != "a" || job != "b" || id != "c_1" {
		t.Errorf("call: %v %v %v %v", tenant, job, id, err)
	}
	for _, parse := range []func() (string, string, error){
		func() (string, string, error) { return streams.ParseTimerSubject(streams.TimerSubject("a", "b")) },
		func() (string, string, error) { return streams.ParseWakeSubject(streams.WakeSubject("a", "b")) },
		func() (string, string, error) { return streams.ParseControlSubject(streams.ControlSubject("a", "b")) },
		func() (string, string, error) { return streams.ParseResultSubject(streams.ResultSubject("a", "b")) },
	} {
		if tenant, job, err := parse(); err != nil || tenant != "a" || job != "b" {
			t.Errorf("%v %v %v", tenant, job, err)
		}
	}
}

func TestParsersSayWhatIsWrong(t *testing.T) {
	for subject, says := range map[string]string{
		"":                                          "callgate.job.<state>.<lane>.<tenant>.<job>",
		"callgate.job.planning.batch.acme":          "callgate.job.<state>.<lane>.<tenant>.<job>",
		"callgate.job.planning.batch.acme.a.b":      "callgate.job.<state>.<lane>.<tenant>.<job>",
		"callgate.job.dreaming.batch.acme.j":        `unknown state "dreaming"`,
		"callgate.job.planning.express.acme.j":      `unknown lane "express"`,
		"callgate.job.planning.batch.*.j":           `tenant "*"`,
		"callgate.job.planning.batch.acme.":         `job ID ""`,
		"callgate.job.planning.batch.acme.a\x00b":   "job ID",
		"callgate.live.planning.batch.acme.j":       "the form is",
		"callgate.job." + strings.Repeat("x", 4096): "…",
	} {
		_, _, _, _, err := streams.ParseJobSubject(subject)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v, want it to say %q", subject, err, says)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("%.60q: the error repeats all %d bytes", subject, len(err.Error()))
		}
	}
}

func FuzzParseJobSubject(f *testing.F) {
	f.Add("callgate.job.planning.batch.acme.j1")
	f.Add("callgate.job....")
	f.Fuzz(func(t *testing.T, subject string) {
		state, lane, tenant, job, err := streams.ParseJobSubject(subject)
		if err == nil && streams.JobSubject(state, lane, tenant, job) != subject {
			t.Errorf("%q was read as another subject", subject)
		}
	})
}

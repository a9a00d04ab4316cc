package schemas

// Next returns a copy of e as the event that a worker returns: in state to,
// with nothing that belonged to the event alone.
func (e Envelope) Next(to State) Envelope {
	e.State = to
	e.Feedback, e.Error, e.Result = nil, nil, nil
	e.Wait, e.Intent, e.Steering, e.Review, e.Spilled = nil, nil, nil, nil, nil
	return e
}

// Fail returns the failed event that follows e.
func (e Envelope) Fail(err *Error) Envelope {
	next := e.Next(StateFailed)
	next.Error = err
	next.Result = &Result{Status: ResultError, Error: err, Metadata: e.metadata()}
	if e.Code != nil {
		next.Result.Code = e.Code.Source
	}
	return next
}

// Replan returns the event that sends e back to planning with feedback.
func (e Envelope) Replan(f Feedback) Envelope {
	next := e.Next(StatePlanning)
	next.Feedback = &f
	return next
}

// Succeed returns the completed event that follows e, with data as its result.
func (e Envelope) Succeed(data any) Envelope {
	next := e.Next(StateCompleted)
	next.Result = &Result{Status: ResultSuccess, Data: data, Metadata: e.metadata()}
	if e.Code != nil {
		next.Result.Code = e.Code.Source
	}
	if e.Workspace != nil {
		next.Result.Files = e.Workspace.Files
	}
	if e.Facts != nil {
		next.Result.Metadata.Warnings = e.Facts.Findings
	}
	return next
}

func (e Envelope) metadata() Metadata {
	m := Metadata{Attempts: e.Attempt, Turns: e.Turn, Tokens: e.Spent.Tokens(), Degraded: e.Degraded}
	if e.Facts != nil {
		m.CodeHash = e.Facts.CodeHash
	}
	if e.Run != nil {
		m.ExecutionTimeMS = e.Run.WallMS
		m.Isolation = &e.Run.Isolation
		m.SandboxVersion = e.Run.Isolation.Versions["sandbox"]
	}
	return m
}

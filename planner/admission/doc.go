// Package admission turns a submission into the first event of a job.
//
//	bytes + what the stream knows of them ─► Admit ─► planning event
//	                                            └───► *schemas.Error: what is wrong, and where
//
// It is a pure function of its arguments: the same stored submission gives the
// same job ID and the same event, however often it is delivered. It reads
// nothing and writes nothing. Whether an ID is taken, a tenant is over its
// share or the log is full is decided by whoever appends the event.
package admission

package upkeep

// StopBefore makes the janitor's purge fail before a step.
func (j *Janitor) StopBefore(step string, err error) {
	j.step = func(name string) error {
		if name == step {
			return err
		}
		return nil
	}
}

package main

import "github.com/spf13/cobra"

func (a *app) addCommands(root *cobra.Command) {
	root.Version = version
	root.AddCommand(
		a.upCommand(), a.workerCommand(), a.provisionCommand(),
		a.submitCommand(), a.batchCommand(), a.watchCommand(), a.showCommand(), a.listCommand(),
		a.cancelCommand(), a.approveCommand(), a.rejectCommand(), a.rollbackCommand(), a.forkCommand(), a.replayCommand(),
		a.execCommand(), a.inspectCommand(), a.diagnoseCommand(), a.toolsCommand(), a.modelserverCommand(), a.doctorCommand(), a.benchCommand(),
	)
}

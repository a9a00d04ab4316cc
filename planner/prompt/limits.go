package prompt

import (
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

func limits(l schemas.Limits) any {
	return struct{ Wall, CPU, Memory, Output, Disk, Pids string }{
		Wall: seconds(l.RunTimeoutMS), CPU: seconds(l.CPUMS), Memory: size(l.MemoryBytes),
		Output: size(l.OutputBytes), Disk: size(l.DiskBytes), Pids: fmt.Sprint(l.Pids),
	}
}

func seconds(ms int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", float64(ms)/1000), "0"), ".") + " s"
}

func size(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

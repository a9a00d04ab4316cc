package sandbox

import (
	"context"
	"encoding/json"
	"testing"
)

func TestSmoke(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sp := range []Spec{
		{Language: "python", Code: []byte("import sys,os\nprint('hi', sys.version, os.getpid(), os.getuid(), os.listdir('/'), os.listdir('.'))\nprint(open('/proc/self/cgroup').read(), open('/proc/self/status').read()[:100])\nopen('a.txt','w').write('abc')\nprint(open('/dev/stdin').read())"), Stdin: []byte("the input")},
		{Language: "javascript", Code: []byte("console.log('hi', process.version, require('os').cpus().length)")},
		{Language: "python", Code: []byte("import socket\nsocket.socket()")},
		{Language: "python", Code: []byte("import threading\nt=threading.Thread(target=print,args=('x',)); t.start(); t.join()\nimport subprocess\nprint(subprocess.run('ls -la /; cp main.py b.py; id; ls /dev /proc', shell=True, capture_output=True, text=True))")},
	} {
		r, err := s.Run(context.Background(), sp)
		b, _ := json.MarshalIndent(r, "", " ")
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
}

package verifier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// TestRulesSeeThroughNames: a dangerous call is found under any name that a
// parser can follow, and is not where the name is the program's own.
func TestRulesSeeThroughNames(t *testing.T) {
	py, js := schemas.Python, schemas.JavaScript
	for source, c := range map[string]struct {
		lang  schemas.Language
		rules string
	}{
		"eval('1')":                                                     {py, "python.eval"},
		"e = eval\ne('1')":                                              {py, "python.eval"},
		"list(map(eval, ['1']))":                                        {py, "python.eval"},
		"import builtins as b\nb.eval('1')":                             {py, "python.eval"},
		"__builtins__['eval']('1')":                                     {py, "python.eval python.introspection"},
		"globals()['eval']('1')":                                        {py, "python.eval"},
		"def f(run=eval): return run('1')":                              {py, "python.eval"},
		"(e := eval)('1')":                                              {py, "python.eval"},
		"a, b = eval, 1\na('1')":                                        {py, "python.eval"},
		"\uff45val('1')":                                                {py, "python.eval"}, // NFKC: a wide e
		"import os as o\no.system('x')":                                 {py, "python.shell"},
		"from os import system\nsystem('x')":                            {py, "python.shell"},
		"from os import system as s, path\ns('x')":                      {py, "python.shell"},
		"from os import *\nsystem('x')":                                 {py, "python.shell"},
		"__import__('os').system('x')":                                  {py, "python.dynamic_import python.shell"},
		"__import__('o' + 's').system('x')":                             {py, "python.dynamic_import python.shell"},
		"import importlib\nimportlib.import_module('os').popen":         {py, "python.dynamic_import python.shell"},
		"import os\ngetattr(os, 'system')('x')":                         {py, "python.shell"},
		"import os\ngetattr(os, input())('x')":                          {py, "python.exit python.shell"},
		"import os\nvars(os)['system']('x')":                            {py, "python.shell"},
		"import os\nos.__dict__['sys' + 'tem']('x')":                    {py, "python.shell"},
		"import sys\nsys.modules['os'].system('x')":                     {py, "python.shell"},
		"def f():\n    import os\n    def g():\n        os.system('x')": {py, "python.shell"},
		"class C:\n    import subprocess as p\n    p.run('x')":          {py, "python.subprocess"},
		"import os.path, subprocess":                                    {py, "python.subprocess"},
		"from subprocess import run\nrun('x')":                          {py, "python.subprocess"},
		"import socket":                                                 {py, "python.network"},
		"from urllib.request import urlopen":                            {py, "python.network"},
		"from ctypes import CDLL":                                       {py, "python.native"},
		"import pickle\npickle.loads(b'')":                              {py, "python.deserialise"},
		"().__class__.__bases__[0].__subclasses__()":                    {py, "python.introspection"},
		// Right programs that look like it.
		"def eval(x): return x\neval('1')":               {py, ""},
		"def f(eval): return eval('1')":                  {py, ""},
		"class A:\n    def eval(self): pass\nA().eval()": {py, ""},
		"import pickle\npickle.dumps(1)":                 {py, ""},
		"import os\nos.path.join('a', os.getcwd())":      {py, ""},
		"x = 'eval(1)' # eval(1)":                        {py, ""},
		"from urllib.parse import quote":                 {py, ""},
		"import re\nre.compile('a')":                     {py, ""},
		"df.eval('a + b')":                               {py, ""},

		"eval(`1`)":                            {js, "javascript.eval"},
		"(0, eval)('1')":                       {js, "javascript.eval"},
		"globalThis['ev' + 'al']('1')":         {js, "javascript.eval"},
		"new Function('return 1')()":           {js, "javascript.eval"},
		"(() => {}).constructor('return 1')()": {js, "javascript.eval"},
		"[].map.constructor('x'); [].constructor.constructor('y')":                     {js, "javascript.eval"},
		"const f = Function; f('x')":                                                   {js, "javascript.eval"},
		"setTimeout(eval, 1, 'x')":                                                     {js, "javascript.eval"},
		"require('child_process').exec('x')":                                           {js, "javascript.child_process"},
		"const { exec: e } = require('node:child_process'); e(1)":                      {js, "javascript.child_process"},
		"const r = require; r('child_' + 'process')":                                   {js, "javascript.child_process"},
		"module.require('child_process')":                                              {js, "javascript.child_process"},
		"import('child_process').then((m) => m.exec('x'))":                             {js, "javascript.child_process"},
		"import { exec as e } from 'child_process'; e('x')":                            {js, "javascript.child_process"},
		"import cp from 'node:child_process'; cp.exec('x')":                            {js, "javascript.child_process"},
		"export * from 'child_process'":                                                {js, "javascript.child_process"},
		"import { createRequire } from 'module'; createRequire(import.meta.url)('vm')": {js, "javascript.dynamic_import javascript.vm"},
		"process.binding('fs')":                                                        {js, "javascript.native"},
		"process['bind' + 'ing']('fs')":                                                {js, "javascript.native"},
		"const { binding } = process; binding('fs')":                                   {js, "javascript.native"},
		"Reflect.get(process, 'binding')('fs')":                                        {js, "javascript.native"},
		"process.mainModule.require('net')":                                            {js, "javascript.dynamic_import javascript.network"},
		"const vm = require('vm'); vm.runInNewContext('1')":                            {js, "javascript.vm"},
		"fetch('http://x')":                                                            {js, "javascript.network"},
		"function eval2() {} eval2(); const o = { eval() {} }; o.eval()":               {js, ""},
		"function f(fetch) { return fetch() }":                                         {js, ""},
		"const fs = require('fs'); fs.readFileSync('a')":                               {js, ""},
		"class A { m() { return this.constructor.name } }":                             {js, ""},
		"process.stdout.write('x'); process.argv[2]":                                   {js, ""},
	} {
		t.Run(string(c.lang)+": "+source, func(t *testing.T) {
			facts := factsOf(t, c.lang, source, nil)
			if !facts.Parses {
				t.Fatal(facts.Error)
			}
			var got []string
			for _, f := range facts.Findings {
				if f.Severity != schemas.SeverityWarning || f.Line < 1 || f.Column < 1 || f.Message == "" {
					t.Errorf("%+v", f)
				}
				if !slices.Contains(got, f.Rule) {
					got = append(got, f.Rule)
				}
			}
			slices.Sort(got)
			if s := strings.Join(got, " "); s != c.rules {
				t.Errorf("found %q, want %q: %v", s, c.rules, facts.Findings)
			}
		})
	}
}

// TestContractRefuses: strict makes errors of warnings, forbid refuses what it
// names and what that contains, and nothing else.
func TestContractRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		lang     schemas.Language
		source   string
		contract schemas.Contract
		refused  string
	}{
		"warned only":            {schemas.Python, "eval('1')", schemas.Contract{}, ""},
		"strict":                 {schemas.Python, "eval('1')", schemas.Contract{Strict: true}, "eval: runs text as code"},
		"strict, nothing to say": {schemas.Python, "print(1)", schemas.Contract{Strict: true}, ""},
		"a module":               {schemas.Python, "import re", schemas.Contract{Forbid: []string{"re"}}, "import of re: the contract forbids re"},
		"a module from within":   {schemas.Python, "from os.path import join", schemas.Contract{Forbid: []string{"os"}}, "import of os.path: the contract forbids os"},
		"a module like it":       {schemas.Python, "import osmium", schemas.Contract{Forbid: []string{"os"}}, ""},
		"a function":             {schemas.Python, "import os as o\no.getcwd()", schemas.Contract{Forbid: []string{"os.getcwd"}}, "os.getcwd: the contract forbids os.getcwd"},
		"another function of it": {schemas.Python, "import os\nos.listdir()", schemas.Contract{Forbid: []string{"os.getcwd"}}, ""},
		"a computed function":    {schemas.Python, "import os\ngetattr(os, input())()", schemas.Contract{Forbid: []string{"os.getcwd"}}, "a member of os by a computed name"},
		"imported, not called":   {schemas.Python, "from math import factorial", schemas.Contract{Forbid: []string{"math.factorial"}}, "math.factorial"},
		"a builtin":              {schemas.Python, "sorted([1])", schemas.Contract{Forbid: []string{"sorted"}}, "sorted: the contract forbids sorted"},
		"the program's own":      {schemas.Python, "def sorted(x): return x\nsorted([1])", schemas.Contract{Forbid: []string{"sorted"}}, ""},
		"a module of Node's":     {schemas.JavaScript, "import fs from 'node:fs'", schemas.Contract{Forbid: []string{"fs"}}, "import of fs"},
		"by its other name":      {schemas.JavaScript, "require('fs').readFileSync('a')", schemas.Contract{Forbid: []string{"node:fs"}}, "forbids node:fs"},
		"a part of it":           {schemas.JavaScript, "require('fs/promises')", schemas.Contract{Forbid: []string{"fs"}}, "import of fs/promises"},
		"a global's member":      {schemas.JavaScript, "[3].concat(Math.max(1))", schemas.Contract{Forbid: []string{"Math.max"}}, "Math.max"},
	} {
		t.Run(name, func(t *testing.T) {
			facts := factsOf(t, c.lang, c.source, &c.contract)
			found, refused := facts.Refused()
			if refused != (c.refused != "") || !strings.Contains(found.Message, c.refused) {
				t.Errorf("%v %+v, want %q", refused, facts.Findings, c.refused)
			}
		})
	}
}

// TestRefusalsComeFirst: no number of warnings hides a refusal.
func TestRefusalsComeFirst(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "import os\nos.spawn%d\n", i)
	}
	b.WriteString("import re\n")
	facts := factsOf(t, schemas.Python, b.String(), &schemas.Contract{Forbid: []string{"re"}})
	if len(facts.Findings) != 100 || facts.Findings[0].Severity != schemas.SeverityError {
		t.Errorf("%d findings, the first %+v", len(facts.Findings), facts.Findings[0])
	}
}

# stdout: ok
import collections, csv, dataclasses, datetime, decimal, functools, hashlib, heapq, itertools, json, logging, lzma, math, pathlib, pickle, random, re, ssl, statistics, string, struct, textwrap, time, typing, unittest, urllib.parse, uuid, xml.etree.ElementTree, zipfile, zlib, zoneinfo, ctypes, platform, secrets, bz2, curses, email, http.client, inspect, locale, mmap, queue, select, selectors, shlex, signal, socket, stat, tarfile
assert zoneinfo.ZoneInfo("Europe/Berlin"); uuid.uuid4(); secrets.token_hex(); platform.platform(); locale.setlocale(locale.LC_ALL, "")
assert datetime.datetime.now().astimezone().utcoffset() == datetime.timedelta(0)
import getpass, pwd; assert getpass.getuser() == "sandbox" and pwd.getpwuid(1000).pw_dir == "/workspace"
print("ok")

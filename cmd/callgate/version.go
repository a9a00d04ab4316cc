package main

// version is what the services report. It follows semantic versioning and is
// the newest heading of CHANGELOG.md, which a test compares.
const version = "0.1.0"

module callgate.dev/schemas

go 1.26

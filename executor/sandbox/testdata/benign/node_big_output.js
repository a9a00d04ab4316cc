// stdout_bytes: 500000
process.stdout.write("x".repeat(500000)); process.exit(0);

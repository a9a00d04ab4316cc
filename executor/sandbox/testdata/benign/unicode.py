# stdout: žluťoučký 🐎
print("žluťoučký 🐎")

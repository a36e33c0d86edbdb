# Elements of a pack are written to where they would lie without rows.
s/first\[at\(i \+ j\)\] = v/first[i + j] = v/

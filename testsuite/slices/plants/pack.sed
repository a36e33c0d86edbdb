# Elements of a pack are read from where they would lie without rows.
s/v\.at\[j\] = first\[at\(i \+ j\)\]/v.at[j] = first[i + j]/

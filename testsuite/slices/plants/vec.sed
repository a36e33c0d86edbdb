# Elements of a vector are written to where they would lie without rows.
s/store_vec\(first, at\(i \+ j\), some\)/store_vec(first, i + j, some)/

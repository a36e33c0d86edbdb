# Elements of a vector are written to where they would lie without rows.
s/store_vec\(to.first, at\(i \+ j\), some\)/store_vec(to.first, i + j, some)/

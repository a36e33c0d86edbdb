# Elements of a pack are written to where they would lie without rows.
s/store_pack\(first, at\(i \+ j\), some\)/store_pack(first, i + j, some)/

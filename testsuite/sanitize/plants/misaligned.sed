# Packs in shared memory begin an element too late.
s/put_shared\(&room\.map\[(.*)\], sums\)/put_shared(\&room.map[\1] + 1, sums)/

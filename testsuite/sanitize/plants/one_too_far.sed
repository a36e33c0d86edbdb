# Loops that go one element too far.
/#define/!s/FOR_EACH\(i, count\)/FOR_EACH(i, count + 1)/

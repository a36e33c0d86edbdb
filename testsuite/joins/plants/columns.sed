# What is joined begins with the same columns in every place of a row.
s/row \* First::width \+ column/row * First::width/

---- MODULE Crdt ----
(* The CRDT of crdt.py: the same states, transitions and levels. *)
EXTENDS Naturals
CONSTANTS NODES, TOP
VARIABLE seen

Node == 1..NODES
Max(a, b) == IF a > b THEN a ELSE b

Reduced(s) ==
  LET all == {s[i][j] : i, j \in Node}
      least == CHOOSE n \in all : \A other \in all : n <= other IN
  [i \in Node |-> [j \in Node |-> s[i][j] - least]]

Incremented(i) == [seen EXCEPT ![i][i] = @ + 1]
Merged(i, j) == [seen EXCEPT ![j] = [k \in Node |-> Max(seen[i][k], seen[j][k])]]

Init == seen = [i \in Node |-> [j \in Node |-> 0]]
Next ==
  \E i \in Node :
    \/ seen' = Incremented(i)
    \/ seen' = Reduced(Incremented(i))
    \/ \E j \in Node : seen' = Merged(i, j) \/ seen' = Reduced(Merged(i, j))

Spec == Init /\ [][Next]_seen

Small == \A i \in Node : seen[i][i] <= TOP
Correct == \A i, j \in Node : seen[i][i] >= seen[j][i]
====

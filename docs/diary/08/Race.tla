---- MODULE Race ----
EXTENDS Integers, Sequences

VARIABLES versions, seen, done
Writers == {0, 1}

Init == /\ versions = <<>>
        /\ seen = [w \in Writers |-> -1]
        /\ done = [w \in Writers |-> FALSE]

Look(w) == /\ seen[w] = -1
           /\ seen' = [seen EXCEPT ![w] = Len(versions)]
           /\ UNCHANGED <<versions, done>>

Put(w) == /\ seen[w] > -1 /\ ~done[w]
          /\ versions' = Append(SubSeq(versions, 1, seen[w]), w)
          /\ done' = [done EXCEPT ![w] = TRUE]
          /\ UNCHANGED seen

Next == \E w \in Writers : Look(w) \/ Put(w)

NothingIsLost ==
    \A w \in Writers : done[w] => \E n \in 1..Len(versions) : versions[n] = w
====

---- MODULE Locks ----
(* The lock service of locks.py: the same states, transitions and levels. *)
EXTENDS Naturals, FiniteSets
CONSTANTS CLIENTS, SESSIONS, TOKENS
VARIABLES sent, session, token, waiting, living, holder, newest, highest

client == <<session, token, waiting>>
service == <<living, holder, newest>>
vars == <<sent, client, service, highest>>
Client == 1..CLIENTS
None == [kind |-> "none", client |-> 0, session |-> 0, token |-> 0]
Sent(kind) == {m \in sent : m.kind = kind}

Init ==
  /\ sent = {}
  /\ session = [c \in Client |-> 1]
  /\ token = [c \in Client |-> 0]
  /\ waiting = [c \in Client |-> FALSE]
  /\ living = [c \in Client |-> 1]
  /\ holder = None
  /\ newest = 0
  /\ highest = 0

Acquire(c) ==
  /\ ~waiting[c] /\ token[c] = 0
  /\ waiting' = [waiting EXCEPT ![c] = TRUE]
  /\ sent' = sent \cup {[kind |-> "acquire", client |-> c, session |-> session[c]]}
  /\ UNCHANGED <<session, token, service, highest>>

ReceiveGrant(c) ==
  \E m \in {n \in Sent("granted") : n.client = c} :
    LET valid == m.session = session[c] IN
    /\ sent' = sent \ {m}
    /\ token' = [token EXCEPT ![c] = IF valid THEN m.token ELSE @]
    /\ waiting' = [waiting EXCEPT ![c] = IF valid THEN FALSE ELSE @]
    /\ UNCHANGED <<session, service, highest>>

Write(c) ==
  /\ token[c] > 0
  /\ sent' = sent \cup {[kind |-> "write", client |-> c, token |-> token[c]]}
  /\ UNCHANGED <<client, service, highest>>

Release(c) ==
  /\ token[c] > 0
  /\ sent' = sent \cup {[kind |-> "release", client |-> c, token |-> token[c]]}
  /\ token' = [token EXCEPT ![c] = 0]
  /\ UNCHANGED <<session, waiting, service, highest>>

NoticeEndOfSession(c) ==
  /\ session[c] < living[c]
  /\ session' = [session EXCEPT ![c] = living[c]]
  /\ token' = [token EXCEPT ![c] = 0]
  /\ waiting' = [waiting EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<sent, service, highest>>

Grant ==
  /\ holder = None /\ newest < TOKENS
  /\ \E m \in {n \in Sent("acquire") : n.session = living[n.client]} :
       LET granted == [kind |-> "granted", client |-> m.client, session |-> m.session,
                       token |-> newest + 1] IN
       /\ holder' = granted
       /\ sent' = (sent \ {m}) \cup {granted}
  /\ newest' = newest + 1
  /\ UNCHANGED <<client, living, highest>>

ReceiveRelease ==
  \E m \in Sent("release") :
    /\ sent' = sent \ {m}
    /\ holder' = IF holder.token = m.token THEN None ELSE holder
    /\ UNCHANGED <<client, living, newest, highest>>

EndSession(c) ==
  /\ living[c] < SESSIONS
  /\ living' = [living EXCEPT ![c] = @ + 1]
  /\ holder' = IF holder.client = c THEN None ELSE holder
  /\ UNCHANGED <<sent, client, newest, highest>>

ReceiveWrite ==
  \E m \in Sent("write") :
    /\ sent' = sent \ {m}
    /\ highest' = IF m.token > highest THEN m.token ELSE highest
    /\ UNCHANGED <<client, service>>

Next ==
  \/ Grant \/ ReceiveRelease \/ ReceiveWrite
  \/ \E c \in Client :
       Acquire(c) \/ ReceiveGrant(c) \/ Write(c) \/ Release(c) \/ NoticeEndOfSession(c)
         \/ EndSession(c)

Spec == Init /\ [][Next]_vars

Correct ==
  /\ \A a, b \in Client : a # b /\ token[a] > 0 => token[a] # token[b]
  /\ \A c \in Client : session[c] = living[c] => token[c] \in {0, newest}
Step == [][highest' >= highest]_vars
====

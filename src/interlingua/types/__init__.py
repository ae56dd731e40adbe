"""The canonical contract: messages, requests, responses, events, changes. No behaviour of any vendor lives here."""

// A page as an application writes it: `useChat` of the AI SDK, approvals, and a stream that is resumed after a reload.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createRoot } from "react-dom/client";

function Part({ part, answer }) {
  if (part.type === "text") return <p className="text">{part.text}</p>;
  if (!part.type.startsWith("tool-")) return null;
  if (part.state !== "approval-requested") return <p className={part.state}>{JSON.stringify(part.output ?? part.errorText)}</p>;
  const decide = (approved) => answer({ id: part.approval.id, approved, reason: approved ? undefined : "not today" });
  return (
    <p className="request">
      {JSON.stringify(part.input)} <button className="yes" onClick={() => decide(true)}>yes</button>{" "}
      <button className="no" onClick={() => decide(false)}>no</button>
    </p>
  );
}

function Page() {
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id: location.hash.slice(1),
    resume: true,
    transport: new DefaultChatTransport({ api: "/chat" }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  window.send = (text, files) => sendMessage({ text, files });
  return (
    <main id={status}>
      {messages.map((message) => (
        <section key={message.id} className={message.role}>
          {message.parts.map((part, place) => <Part key={place} part={part} answer={addToolApprovalResponse} />)}
        </section>
      ))}
      {error && <p className="error">{error.message}</p>}
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Page />);

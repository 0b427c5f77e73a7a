//! `rulemate lsp`: a language server for rule files (Language Server Protocol).
//!
//! The mistakes that `rulemate check` finds are reported as text is typed. For a name, the server shows its columns and
//! its sentence, and finds its declaration and its rules; it also lists the names that could come next.
//!
//! Deliberately absent: anything that changes text (formatting, renaming).

mod documents;
mod symbols;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{
    Completion, GotoDefinition, GotoImplementation, HoverRequest, Request as _,
};
use lsp_types::{
    CompletionOptions, HoverProviderCapability, ImplementationProviderCapability, OneOf,
    PublishDiagnosticsParams, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind,
    Uri,
};
use serde::de::DeserializeOwned;

use super::Verdict;
use super::output::{OrFix, trouble};
use documents::Documents;

/// The fix if the command was not started by an editor.
const FIX: &str = "start it from an editor (docs/editors.md)";

pub(crate) fn run() -> anyhow::Result<Verdict> {
    let (connection, threads) = Connection::stdio();
    let capabilities = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions::default()),
        ..ServerCapabilities::default()
    };
    let capabilities = serde_json::to_value(capabilities)?;
    connection.initialize(capabilities).or_fix(FIX)?;
    let mut server = Server { connection, documents: Documents::default() };
    server.run()?;
    // The writing thread ends with the last sender.
    drop(server);
    threads.join()?;
    Ok(Verdict::Fine)
}

struct Server {
    connection: Connection,
    documents: Documents,
}

impl Server {
    /// Runs until the editor disconnects, or asks the server to shut down.
    fn run(&mut self) -> anyhow::Result<()> {
        loop {
            // Files are checked when no message is waiting, so that fast typing does not cause a backlog.
            if self.connection.receiver.is_empty() && self.check_next()? {
                continue;
            }
            let Ok(message) = self.connection.receiver.recv() else { return Ok(()) };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request).or_fix(FIX)? {
                        return Ok(());
                    }
                    let response = self.answer(request);
                    self.send(response.into())?;
                }
                Message::Notification(it) => self.handle_notification(it)?,
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: Message) -> anyhow::Result<()> {
        let sent = self.connection.sender.send(message);
        sent.map_err(|_| trouble("the editor no longer reads", FIX))
    }

    fn publish(&self, found: PublishDiagnosticsParams) -> anyhow::Result<()> {
        self.send(Notification::new(PublishDiagnostics::METHOD.into(), found).into())
    }

    /// Checks one file; `false` if all are checked.
    fn check_next(&mut self) -> anyhow::Result<bool> {
        let Some(name) = self.documents.next_to_check() else { return Ok(false) };
        let receiver = &self.connection.receiver;
        if let Some(found) = self.documents.check_further(&name, &|| receiver.is_empty()) {
            self.publish(found)?;
        }
        Ok(true)
    }

    fn handle_notification(&mut self, notification: Notification) -> anyhow::Result<()> {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(it) = read::<DidOpenTextDocument>(notification) else { return Ok(()) };
                self.documents.update(it.text_document.uri, it.text_document.text);
            }
            DidChangeTextDocument::METHOD => {
                let Some(it) = read::<DidChangeTextDocument>(notification) else { return Ok(()) };
                if let Some(last) = it.content_changes.into_iter().next_back() {
                    self.documents.update(it.text_document.uri, last.text);
                }
            }
            DidCloseTextDocument::METHOD => {
                let Some(it) = read::<DidCloseTextDocument>(notification) else { return Ok(()) };
                if let Some(found) = self.documents.close(&it.text_document.uri) {
                    self.publish(found)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&self, request: Request) -> Response {
        let id = request.id.clone();
        let documents = &self.documents;
        let answered = match request.method.as_str() {
            HoverRequest::METHOD => ask::<HoverRequest>(request, |it| {
                let at = it.text_document_position_params;
                documents.hover(&at.text_document.uri, at.position)
            }),
            GotoDefinition::METHOD => ask::<GotoDefinition>(request, |it| {
                let at = it.text_document_position_params;
                documents.definition(&at.text_document.uri, at.position)
            }),
            GotoImplementation::METHOD => ask::<GotoImplementation>(request, |it| {
                let at = it.text_document_position_params;
                documents.rules(&at.text_document.uri, at.position)
            }),
            Completion::METHOD => ask::<Completion>(request, |it| {
                let at = it.text_document_position;
                documents.completion(&at.text_document.uri)
            }),
            other => Err((ErrorCode::MethodNotFound, format!("{other} is not offered"))),
        };
        match answered {
            Ok(answer) => Response::new_ok(id, answer),
            Err((code, why)) => Response::new_err(id, code as i32, why),
        }
    }
}

/// The parameters of a notification; `None` if they cannot be read. Such a notification is ignored, since notifications
/// have no answer.
fn read<N: lsp_types::notification::Notification>(notification: Notification) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    notification.extract(N::METHOD).ok()
}

/// The answer to a request, as JSON.
fn ask<R: lsp_types::request::Request>(
    request: Request,
    answer: impl FnOnce(R::Params) -> R::Result,
) -> Result<serde_json::Value, (ErrorCode, String)>
where
    R::Params: DeserializeOwned,
    R::Result: serde::Serialize,
{
    let (_, params) = request
        .extract::<R::Params>(R::METHOD)
        .map_err(|why| (ErrorCode::InvalidParams, why.to_string()))?;
    serde_json::to_value(answer(params)).map_err(|why| (ErrorCode::InternalError, why.to_string()))
}

/// The path of a file URI.
fn path_of(uri: &Uri) -> Option<std::path::PathBuf> {
    let is_file = uri.scheme().is_some_and(|it| it.as_str() == "file");
    let path = uri.path().as_estr().decode().into_string().ok()?;
    is_file.then(|| path.into_owned().into())
}

/// The URI of a file.
fn uri_of(path: &std::path::Path) -> Option<Uri> {
    let mut text = String::from("file://");
    for byte in path.to_str()?.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text.parse().ok()
}

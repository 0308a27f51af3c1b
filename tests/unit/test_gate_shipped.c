/*
 * test_gate_shipped.c - the rules as they are shipped: what destroys is asked about however it is
 * spelled, what is done every day is not.
 * Proves: R11.3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/gate.h"
#include "settings/settings.h"

/* What an agent tries next that was refused the first of a row. */
static const char *const asked[] = {
    "rm -r x",
    "rm -fr build",
    "rm --rec x",
    "rm --r x",
    "rm -R x",
    "sudo rm -rf /",
    "\\rm -r x",
    "r''m -r x",
    "r\"m\" -r x",
    "$'rm' -r x",
    "{rm,-r,x}",
    "rm$IFS-r x",
    "command rm -r x",
    "env A=1 rm -r x",
    "busybox rm -r x",
    "ls | xargs rm",
    "find . -name x | xargs -0 rm -f",
    "find . -exec rm {} \\;",
    "find . -exec rm -f {} +",
    "find . -delete",
    "find /tmp -type f -delete",
    "bash -c 'rm -r x'",
    "sh -c \"cd y; rm -r x\"",
    "eval \"rm -r x\"",
    "eval rm -r x",
    "echo $(rm -r x)",
    "echo \"$(rm -r x)\"",
    "grep \"$(rm -r x)\" y",
    "`rm -r x`",
    "if true; then rm -r x; fi",
    "unlink x",
    "sudo unlink x",
    "bash -c 'unlink x'",
    "rmdir x",
    "shred -u x",
    "truncate -s 0 x",
    "sudo truncate --size=0 x",
    "dd if=/dev/zero of=/dev/sda",
    "mkfs.ext4 /dev/sda1",
    "wipefs -a /dev/sda",
    "cp /dev/null x",
    "cat x; cp /dev/null y",
    "rsync -a --delete a/ b/",
    "rsync -a --del a/ b/",
    "rsync --delete-after a b",
    "tar --remove-files -cf x y",
    "chmod -R 777 .",
    "chown -R me .",
    "chown --recursive me .",
    "python3 -c \"import shutil; shutil.rmtree('x')\"",
    "perl -e 'unlink \"x\"'",
    "perl -e \"unlink glob '*'\"",
    "ruby -e 'FileUtils.rm_rf(\"x\")'",
    "node -e 'fs.rmSync(\"x\")'",
    "npx rimraf x",
    "Remove-Item -Recurse x",
    "git push -f",
    "git push --force",
    "git push --for",
    "git push --force-with-lease",
    "git push origin +main",
    "git push -d origin x",
    "git push origin --delete x",
    "git push --del origin x",
    "git push origin :main",
    "git push --mirror",
    "git push --prune",
    "git -C dir push -f",
    "git -c a.b=c push --force origin main",
    "git -c alias.x='push --force' x",
    "git --git-dir=x push -f",
    "/usr/bin/git push -f",
    "git reset --hard",
    "git reset --har",
    "git reset --hard HEAD~3",
    "git clean -fd",
    "git clean -xdff",
    "git clean -d --force",
    "git checkout -f",
    "git checkout -- .",
    "git checkout HEAD -- x",
    "git checkout .",
    "git checkout HEAD .",
    "git restore x",
    "git restore .",
    "git restore --source=HEAD~1 x",
    "git restore --staged --worktree x",
    "git stash drop",
    "git stash clear",
    "git -C x stash drop",
    "git branch -D x",
    "git branch -d -f x",
    "git branch --delete --force x",
    "git update-ref -d refs/heads/x",
    "git reflog expire --all",
    "git gc --prune=now",
    "git filter-branch x",
    "git tag -d v1",
    "git worktree remove x",
    "git switch -f x",
    "git switch --discard-changes x",
    "git config core.hooksPath /dev/null",
    "gh repo delete x",
    "gh release delete v1",
    "gh api -X DELETE repos/a/b",
    "curl -X DELETE http://x",
    "curl -XDELETE http://x",
    "psql -c \"DROP TABLE users\"",
    "psql -c \"TRUNCATE users\"",
    "psql -h x -c 'truncate table users'",
    "TRUNCATE users",
    "truncate only users",
    "psql -c \"DELETE FROM users\"",
    "DELETE FROM users",
    "sqlite3 x.db 'delete from t'",
    "mysql -e \"DELETE FROM t;\"",
    "UPDATE users SET admin=1",
    "dropdb x",
    "dropdb --if-exists x",
    "drop schema public cascade",
    "redis-cli FLUSHALL",
    "redis-cli -n 1 flushdb",
    "mongosh --eval 'db.dropDatabase()'",
    "rails db:drop",
    "python manage.py flush",
    "npx prisma migrate reset",
    "terraform destroy",
    "terraform apply -destroy",
    "terraform apply -destroy -auto-approve",
    "terraform apply --destroy=true",
    "terraform -chdir=x destroy",
    "tofu destroy",
    "pulumi destroy",
    "cdk destroy x",
    "terraform state rm x",
    "kubectl delete pod x",
    "kubectl -n x delete pod y",
    "kubectl --context c delete ns x",
    "kubectl drain n1",
    "helm uninstall x",
    "helm delete x",
    "docker system prune",
    "docker system prune -af",
    "docker volume rm x",
    "docker volume prune",
    "podman system prune",
    "docker compose down -v",
    "docker-compose down --volumes",
    "aws s3 rm s3://x --recursive",
    "aws s3 rb s3://x",
    "aws ec2 terminate-instances x",
    "aws rds delete-db-instance x",
    "gcloud compute instances delete x",
    "gcloud projects delete x",
    "az group delete -n x",
    "gsutil rm -r gs://x",
    "npm publish",
    "npm unpublish x",
    "cargo publish",
    "yarn npm publish",
    "twine upload dist/*",
    "gem push x",
    "zfs destroy x",
    "crontab -r",
    "iptables -F",
    "shutdown -h now",
    "sudo reboot",
    "userdel x",
    "mv ~/.ssh x",
    "mv ~/.ssh/ x",
    "mv $HOME/.ssh x",
    "mv ${HOME}/.ssh x",
    "mv \"$HOME\"/.ssh x",
    "mv \"${HOME}/.ssh\" x",
    "mv ~ada/.ssh x",
    "mv /home/ada/.ssh x",
    "cp -r ~/.ssh /tmp",
    "cat ~/.ssh/id_rsa",
    "echo x > ~/.ssh/authorized_keys",
    "cat x | tee ~/.ssh/config",
    "ln -sf x ~/.ssh/config",
    "cd ~ && mv .ssh x",
    "cd ~/.ssh && cat id_rsa",
    "mv .git/hooks x",
    "mv ./.git/hooks x",
    "mv /srv/r/.git/hooks x",
    "rm .git/hooks/pre-push",
    "cp x .git/hooks",
    "chmod -x .git/hooks/pre-push",
    "tee $HOME/.config/sayso/settings.json",
    "git push origin ${BRANCH} --force",
    "git -C ${DIR} reset --hard",
    "git -C $(pwd) branch -D x",
    "find $(pwd) -delete",
    "rm ${DIR} -rf",
    "rsync -a ${SRC}/ ${DST}/ --delete",
    "kubectl -n ${NS} delete pod x",
    "terraform -chdir=${D} destroy",
    "aws s3 rm s3://${B} --recursive",
    "ls | xargs -I{} rm {}",
    "sayso --hub ${H} answer k",
    "psql $(cat url) -c \"delete from users\"",
    "bash -c 'eval \"rm -rf x\"'",
    "pkill sayso",
    "pkill -f 'sayso gate'",
    "killall -9 sayso",
    "kill $(pgrep sayso)",
    "ssh host git branch -D y",
    "ssh host 'sudo reboot'",
    "docker exec c unlink x",
    "git -C \"a b\" stash drop",
    ">/dev/null git stash drop",
    "find . | xargs /bin/rm",
    "echo \"delete from users;\" | psql",
    "psql -c \"update users set admin=true\"",
    "mariadb -e 'update users set a=1'",
    "psql -c \"delete from users -- where\"",
    "update only users set a=1",
    "git restore x # --staged",
};

/* clang-format off */
static const char *const everyday[] = {
    "ls", "ls -la", "ls ~/.ssh", "ls -la ~/.ssh", "stat .git/hooks", "cat README.md", "rm file.txt",
    "rm -f file.txt", "rm a b c", "rm -i x", "mkdir -p x/y", "cp a b", "cp -r src dst", "mv a b",
    "touch x", "echo hello", "echo x > file", "echo x >> file", "pwd", "cd src", "cd ..", "cd ~",
    "git status", "git push", "git push origin main", "git push -u origin dev",
    "git push --follow-tags", "git push --tags", "git push --dry-run",
    "git push origin HEAD:refs/heads/x", "git pull", "git pull --rebase", "git fetch --all",
    "git fetch --prune", "git commit -m \"fix the parser\"",
    "git commit -am \"restore the old behavior\"", "git commit -m \"truncate long names\"",
    "git commit -m \"drop the cache\" |git commit --amend --no-edit",
    "git commit -m \"handle shutdown and reboot\"", "git commit -m \"update set of rules\"",
    "git checkout main", "git checkout -b feature", "git switch main", "git switch -c x",
    "git restore --staged x", "git restore --staged .", "git restore -S x", "git stash",
    "git stash pop", "git stash list", "git branch", "git branch -d merged", "git branch -a",
    "git log --oneline", "git diff", "git diff --stat", "git add .", "git add -A", "git reset",
    "git reset HEAD x", "git reset --soft HEAD~1", "git merge x", "git rebase main", "git tag v1",
    "git remote -v", "git clone http://x", "git rev-parse HEAD", "git show HEAD", "git blame x",
    "git clean -n", "git worktree list", "git config user.name x", "git gc", "find . -name '*.c'",
    "find . -type f -name x", "find . -type d -maxdepth 2 -ls", "find . -type l",
    "find src -newer x -print", "grep -rn unlink src", "grep -rn \"rm -rf\" .",
    "rg \"git push --force\"", "grep -r 'DROP TABLE' sql", "grep -c truncate x", "make",
    "make test", "make clean", "npm install", "npm test", "npm run build", "npm ci", "yarn",
    "pnpm install", "cargo build", "cargo test", "pip install x", "python3 x.py",
    "python3 -m pytest -x", "node x.js", "go build ./...", "gcc -o x x.c", "cmake --build build",
    "ninja -C build", "psql -c \"select * from users\"", "psql -c \"DELETE FROM users WHERE id=1\"",
    "psql -c 'update users set a=1 where id=2'", "select 1", "DELETE FROM t WHERE id = 1",
    "UPDATE t SET a=1 WHERE id=2", "sqlite3 x.db .tables", "redis-cli get x",
    "insert into t values (1)", "docker ps", "docker build .", "docker run --rm -it x",
    "docker compose up -d", "docker compose down", "docker logs x", "docker images",
    "kubectl get pods", "kubectl apply -f x", "kubectl logs x", "kubectl describe pod x",
    "helm list", "helm upgrade x y", "terraform plan", "terraform apply", "terraform init",
    "terraform fmt -diff -recursive", "aws s3 ls", "aws s3 cp a s3://b", "aws s3 sync a s3://b",
    "gcloud config list", "az group list", "curl http://x", "curl -sSL -o x http://y",
    "curl -X POST -d @x http://y", "wget http://x", "chmod +x x", "chmod 644 x", "chown me x",
    "tar xzf x.tgz", "tar -czf x.tgz y", "rsync -av a/ b/", "sed -i s/a/b/ x", "awk '{print $1}' x",
    "sort x", "head -n 5 x", "tail -f log", "wc -l x", "which rm", "ps aux", "kill 123", "df -h",
    "du -sh .", "env", "date", "sleep 1", "diff a b", "xargs -n1 echo", "crontab -l",
    "gh pr create --title x", "gh pr list", "gh issue view 1", "npm version patch",
    "npm run publish:check", "systemctl status x", "journalctl -u x", "ssh host ls", "scp a host:b",
    "test -d ~/.ssh", "tree .git/hooks",
};

static const char *const asked_next[] = {
    "find . -exec truncate -s 0 {} +", "git rm -f x", "trash x", "trash-put x", "gio remove x",
    "git checkout HEAD~3 src/", "git checkout :/", "git checkout -B main HEAD~5",
    "git switch -C main HEAD~5", "git branch -M main", "git update-ref refs/heads/main HEAD~5",
    "git update-ref --delete refs/heads/main", "git tag -f v1", "git read-tree -u --reset HEAD",
    "git checkout-index -fa", "git fetch origin +main:main",
    "git -c core.hooksPath=/dev/null commit -m x", "git config set core.hooksPath /dev/null",
    "git config --global core.hooksPath /dev/null", "git submodule deinit -f .",
    "git send-pack --force origin main", "gh api -XDELETE repos/a/b",
    "gh api --method=DELETE repos/a/b", "curl --request=DELETE u", "wget --method=DELETE u",
    "http DELETE u", "mongosh --eval 'db.users.drop()'",
    "mongosh --eval 'db.users.deleteMany({})'", "echo FLUSHALL | redis-cli",
    "valkey-cli flushall", "pg_restore --clean -d x y", "mix ecto.drop",
    "php artisan migrate:refresh", "npx prisma db push --accept-data-loss",
    "npx typeorm schema:drop", "terragrunt apply -destroy", "tofu state rm x",
    "terraform workspace delete x", "pulumi down", "kubectl apply --prune -f x",
    "kubectl scale deploy x --replicas=0", "docker rm -f x", "podman system reset",
    "aws ecr batch-delete-image x", "aws sqs purge-queue x", "gcloud secrets versions destroy 1",
    "gsutil rm gs://x/**", "gsutil rsync -d a gs://b", "az storage blob delete-batch x",
    "heroku pg:reset", "minikube delete", "doctl apps delete x", "hcloud server delete x",
    "vercel rm x --yes", "wrangler d1 delete x", "sam delete", "uv publish", "bun publish",
    "deno publish", "hatch publish", "pdm publish", "cargo yank x", "gem yank x",
    "echo x > /dev/sda", "mke2fs /dev/sda", "sgdisk -Z /dev/sda", "iptables --flush",
    "nft flush ruleset", "chgrp --recursive a x", "setfacl -R x", "systemctl poweroff", "halt",
    "init 0", "crontab /dev/null", "node sayso.js answer k",
    "sqlite3 ~/.local/share/sayso/sayso.db \"select 1\"", "mv .git x", "mv ~/.claude x",
    "cd ~/.claude; rm settings.json", "rm -f *", "rm ~/*",
    "sayso settings set gate_words ''", "sayso settings reset gate_words", "sayso settings edit",
    "git push --force # --dry-run",
    /* one path, however it is written */
    "mv .git/ x", "mv ./.git x", "mv ~/.claude/ x", "mv ./.claude/ old", "mv .//.claude//. old",
    "cd ~/.claude/ && rm settings.json", "mv repo/.git/. x",
    /* what excludes nothing */
    "kubectl delete pod x --dry-run=none", "npm publish --dry-run=false",
    "git push --force --no-dry-run", "git push --dry-run --no-dry-run --force",
    "git push --dry-run --force --no-dry", "git clean -fdx -enode_modules", "git push -f -oci.none",
    "git clean -fd -e node -N", "rsync -aN --delete a b", "git restore -sS x",
    "sayso answer ID --select a --note --help", "sayso answer --note --help",
    "sayso tell ID --note yes",
    "sayso answer ID --select --help", "sayso answer ID -n --help",
    /* what a protected path is in */
    "mv ~/.config x", "mv ~/.copilot x", "mv .github x", "mv ~/.local x", "mv ~/.local/share/ x",
    "sudo mv ~/.config x", "git mv .github x", "mv ~/.claude ~/.config/", "mv .codex x",
    "mv .gemini/ x", "mv .git{,.bak}", "mv -f .claude{,.bak}", "bash -c 'mv ~/.config x'",
    /* from a directory that was entered */
    "cd .git && mv hooks h", "(cd .git; rm hooks/pre-commit)", "pushd ~/.claude; rm settings.json",
    "pushd ~/.claude && cd . && rm ./settings.json", "env -C ~/.claude rm settings.json",
    "cd ~/.config && mv sayso x", "cd ~/.config; cd sayso; rm settings.json",
    "cd ~/.local && mv share x", "bash -c 'cd ~/.claude; rm settings.json'",
    "git -C .git mv hooks x", "cd .github && cp -r /tmp/hooks .",
    "cd x; cd ~/.claude; rm settings.json",
    /* copied into a protected directory */
    "cp settings.json ~/.claude/", "mv settings.json .claude/", "cp /tmp/settings.json .claude",
    "rsync settings.json ~/.claude/", "cp a/settings.local.json b.md ~/.claude",
    "cp settings.json ~/.claude/ 2>/dev/null", "cp -t ~/.claude settings.json",
    "cp --target-directory=.claude settings.json", "cp -r hooks/ .git", "cp -r sayso ~/.config/",
    "install -m 644 hooks.json ~/.codex", "ln -sf /tmp/settings.json ~/.gemini/",

    /* what a shell may make a protected path of */
    "mv ~/.ss* x", "mv ~/.[s]sh x", "mv ~/.s* x", "mv ~/.ss? x", "rm ~/.claude/settings.*",
    "sed -i s/a/b/ .claude/*.json", "mv ~/.conf* x",
    "mv .gi[t] x", "cp a/*.json ~/.claude/",
    /* other words for the same */
    "git rm --force x", "docker volume remove x", "podman volume remove x", "podman rm -f x",
    "podman rm --force x", "kubectl scale deploy x --replicas 0", "pulumi stack remove x",
    "wget --method DELETE u", "echo 'TRUNCATE users' | psql", "printf 'truncate users;' | mysql",
    "echo \"update users set a=1\" | psql", "cat <<EOF | psql\nTRUNCATE users;\nEOF",
    "psql <<EOF\nUPDATE users SET a=1;\nEOF", "psql <<< \"TRUNCATE users\"",
    "psql -c 'DELETE FROM users /* where */'", "DELETE FROM users /* where */",
    "echo 'update users set a=1 /* where */' | mysql", "systemctl --user stop sayso",
    "systemctl --user disable --now sayso.service",
};

static const char *const neighbors[] = {
    "git push origin $(git branch --show-current)", "rm ${FILE}",
    "for f in *.c; do clang-format -i ${f}; done", "ls | xargs -I{} echo {}",
    "git commit -m \"don't force it\"", "pkill node", "pgrep sayso",
    "ssh host 'cd x && git pull'", "docker exec c ls -la", "kubectl exec p -- cat x",
    "make 2>/dev/null >log", "psql -c \"select truncate(1.5)\"",
    "git restore --staged x # all of it", "git log --oneline -- unlink",
    "rm *.o", "rm -f build/*.o", "docker rm x", "docker rmi x",
    "kubectl scale deploy x --replicas=3", "curl -d 'action=delete' u",
    "gh pr list --label=delete", "echo \"flushing the cache\"", "git checkout HEAD~3",
    "git checkout -b x HEAD~3", "git tag -a v1 -m x", "git fetch origin main:main",
    "git submodule update --init", "git rm --cached x", "git branch -m old new",
    "terraform workspace list", "npx prisma db push", "systemctl restart x",
    "setfacl -m u:me:r x", "echo x > /dev/null", "mv .gitignore x", "cd ~/.claude/commands",
    "http GET u", "git commit -m \"see https://x about delete\"",
    "mongosh --eval 'db.users.find({})'", "pg_restore -l x", "uv pip install x", "bun test",
    "sayso settings get gate_commands", "sayso settings list", "sayso answer --help",
    "git config --get core.hooksPath", "git push --dry-run --force", "git push -nf",
    "git clean -n -f", "git clean --dry-run -fd", "rsync -avn --delete a b",
    "rsync --dry-run --delete a b", "npm publish --dry-run", "cargo publish --dry-run",
    "kubectl auth can-i delete pods", "kubectl delete --dry-run=client pod x",
    "mv x ~/.config", "mv a.yml .github/", "cp x ~/.config/foo/", "cp x ~/.config/", "mv foo .git/",
    "cp -r nvim ~/.config/", "cp CLAUDE.md ~/.claude/", "cp *.md ~/.claude/", "cp -r .claude x",
    "cd .git && ls", "cd .github && cat workflows/ci.yml", "cd ~/.config && ls",
    "cd ~/.local/share",
    "cd src && mv hooks h", "mv settings.json x", "mv hooks h", "cp settings.json x/",
    "sed 's/.*/x/' f", "sed -n 's/.*foo//p' f", "grep -rn hooks .git", "rg sayso ~/.config",
    "mv src/{a,b}.c x", "cp x{,.bak}", "git add src/{core,cli}/settings.json", "mv *.c src",
    "rm src/*.o", "ls ~/.ss*", "ls .github/*", "mv .vscode x", "mv .config.yml x",
    "cp .gitignore x",
    "cat app/[id]/page.tsx", "mv ~/.local/bin/x y", "git -C .git status", "make -C src",
    "rsync -avzn --delete a b", "rsync -a --delete -n a b", "git push --force --dry-run",
    "git clean -fd --dry-run", "git clean -ndx -e node", "cargo publish --allow-dirty --dry-run",
    "npm publish --dry-run=true", "git push --no-verify --dry-run --force",
    "sayso answer --help 2>&1", "kubectl scale deploy x --replicas 3", "wget --method POST u",
    "podman rm x", "systemctl --user status sayso", "systemctl --user stop x",
    "psql -c 'delete from t /* old */ where id=1'", "echo 'update t set a=1 where b=2' | psql",
    "echo 'select truncate(1.5)' | psql", "echo \"update the docs\"", "tar xf x.tar -C build",
    "tar czf x.tgz .github", "tar xf x.tgz -C ~/.local", "unzip x.zip -d out",
};
/* clang-format on */

/* Tools, and what they are called with. */
static const struct {
    const char *tool, *input;
    bool is_asked;
} tools[] = {
    { "mcp__gh__remove_repo", "{}", true },
    { "mcp__db__truncate_table", "{}", true },
    { "mcp__db__dropTable", "{}", true },
    { "mcp__http__call", "{\"method\":\"DELETE\"}", true },
    { "mcp__http__call", "{\"method\":\"GET\"}", false },
    { "mcp__gh__remove_label", "{}", false },
    { "mcp__sayso__provide_choice", "{\"prompt\":\"May I drop table users?\"}", false },
    { "AskUserQuestion", "{\"question\":\"rm -rf x?\"}", false },
    { "ExitPlanMode", "{\"plan\":\"git push --force\"}", false },
    { "TodoWrite", "{\"todos\":[\"drop table users\"]}", false },
    { "Task", "{\"prompt\":\"rm -rf x\"}", false },
    { "mcp__x__run_task", "{\"prompt\":\"rm -rf x\"}", true },
};

static struct gate_match judge(const struct gate_rules *rules, const char *command)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    struct gate_call call = { .tool = "Bash", .directory = "/home/ada/work", .home = "/home/ada" };
    struct json *input = NULL;
    struct gate_match match;

    json_write_object(&writer, NULL);
    json_write_text(&writer, "command", command);
    json_write_end_object(&writer);
    assert_true(json_parse(out.bytes, out.used, &input, NULL));
    call.input = input;
    match = gate_find(rules, &call);
    json_free(input);
    text_release(&out);
    return match;
}

static int judge_all(const char *const *commands, size_t count, bool is_asked)
{
    struct settings *settings = settings_new();
    const struct gate_rules rules = {
        .commands = settings_text(settings, SETTING_GATE_COMMANDS),
        .words = settings_text(settings, SETTING_GATE_WORDS),
        .paths = settings_text(settings, SETTING_GATE_PATHS),
        .tools = settings_text(settings, SETTING_GATE_TOOLS),
    };
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct gate_match match = judge(&rules, commands[i]);

        if ((match.kind != GATE_NONE) == is_asked)
            continue;
        print_error("%s: %s %s\n", is_asked ? "let through" : "asked about", commands[i],
                    match.pattern);
        wrong++;
    }
    settings_free(settings);
    return wrong;
}

static void test_what_destroys_is_asked_about(void **state)
{
    (void)state;
    assert_int_equal(judge_all(asked, ARRAY_LEN(asked), true), 0);
    assert_int_equal(judge_all(asked_next, ARRAY_LEN(asked_next), true), 0);
}

static void test_what_is_done_every_day_is_not(void **state)
{
    (void)state;
    assert_int_equal(judge_all(everyday, ARRAY_LEN(everyday), false), 0);
    assert_int_equal(judge_all(neighbors, ARRAY_LEN(neighbors), false), 0);
}

static void test_tools(void **state)
{
    struct settings *settings = settings_new();
    const struct gate_rules rules = {
        .commands = settings_text(settings, SETTING_GATE_COMMANDS),
        .tools = settings_text(settings, SETTING_GATE_TOOLS),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        struct gate_call call = { .tool = tools[i].tool };
        struct json *input = NULL;

        assert_true(json_parse(tools[i].input, strlen(tools[i].input), &input, NULL));
        call.input = input;
        if ((gate_find(&rules, &call).kind != GATE_NONE) != tools[i].is_asked)
            fail_msg("%s %s", tools[i].tool, tools[i].input);
        json_free(input);
    }
    settings_free(settings);
}

/* The list is a setting: it must fit into one, and every pattern into its room. */
static void test_the_list_fits(void **state)
{
    struct settings *settings = settings_new();
    const char *list = settings_text(settings, SETTING_GATE_COMMANDS);

    (void)state;
    assert_in_range(strlen(list), 1, 8191); /* as much again is left for a person's own */
    while (*list) {
        size_t length = strcspn(list, ";");

        assert_in_range(length, 2, GATE_PATTERN_BYTES - 1);
        list += length + (list[length] == ';');
    }
    settings_free(settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_destroys_is_asked_about),
        cmocka_unit_test(test_what_is_done_every_day_is_not),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_the_list_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
